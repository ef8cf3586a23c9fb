// math: latency, throughput and error of the built-in functions, by type, flavor and class of arguments.
#include "experiments/lib/family.hpp"
#include "experiments/lib/math_functions.hpp"

namespace cllab::model::math_family {

using namespace lib;
using math::Function;

constexpr std::size_t most_arguments = 1024;  // work-items repeat them with this period
// native_ functions and relaxed mathematics guarantee nothing. This limit only distinguishes wrong from coarse results.
constexpr double coarse = 1.0 / 64;

/// The meaning of a variant's name: "rate_native" is {rate, "native"}.
struct Kind {
    bool rate = false;
    std::string flavour;  ///< "", "native", "half", "fast", "double" or "fp16"
    bool by_instruction = false;

    bool is_prefixed() const { return flavour == "native" || flavour == "half"; }
    /// Whether the function guarantees nothing where results are not finite.
    bool is_loose() const { return is_prefixed() || flavour == "fast"; }
};

Kind kind_of(const std::string& variant) {
    const auto at = variant.find('_');
    return {variant.substr(0, at) == "rate", at == std::string::npos ? "" : variant.substr(at + 1)};
}

/// Whether half functions are instructions of the processor that the language lacks (NVIDIA has no cl_khr_fp16).
bool by_instruction(const Device& device, const Kind& kind) {
    return kind.flavour == "fp16" && !device.fp16 && device.compute_capability >= 75;
}

std::string called_name(const Kind& kind, const Function& f) {
    return (kind.is_prefixed() && std::string(f.name) != "identity" ? kind.flavour + "_" : std::string()) + f.name;
}

const Function& function_of(Params& params, const Kind& kind) {
    const auto& name = params.text("function");
    const auto* f = math::find(name);
    if (!f) throw Error(Blame::usage, "axis 'function' is '", name, "', which this probe does not know");
    if (kind.is_prefixed() && !f->native && name != "identity")
        throw Unsupported("OpenCL C has no ", kind.flavour, "_", name);
    if (kind.by_instruction && !is_one_of(name, {"identity", "exp2", "tanh"}))
        throw Unsupported("this device has no cl_khr_fp16; its only half functions are exp2 and tanh");
    if (!kind.is_prefixed() && name == "recip")
        throw Unsupported("OpenCL C has recip only as native_recip and half_recip");
    return *f;
}

/// True if `error` ulp (of `truth`) is within the flavor's guarantee.
template <typename T>
bool acceptable(const Kind& kind, const Function& f, T got, long double truth, double error) {
    // Two roundings, of the reference and of the argument class, keep a correctly rounded result within 0.5001 ulp.
    const double promised = std::is_same_v<T, double> ? f.ulp_double
                            : std::is_same_v<T, Half> ? math::ulp_half(f)
                                                      : f.ulp_float;
    if (kind.by_instruction)  // PTX ISA 8.5: ex2.approx.f16, tanh.approx.f16
        return std::abs(static_cast<long double>(got) - truth) <=
               (std::string_view(f.name) == "exp2"   ? std::exp2(-9.9L) * std::abs(truth)
                : std::string_view(f.name) == "tanh" ? std::exp2(-10.987L)
                                                     : 0);
    if (kind.flavour == "half") return error <= 8192;
    if (kind.flavour == "native" || kind.flavour == "fast")
        return error <= 8192 ||
               std::abs(static_cast<long double>(got) - truth) <= coarse * std::max(1.0L, std::abs(truth));
    return error <= std::max(promised, 0.5001);
}

/// Whether the user's tolerance accepts the result.
template <typename T>
bool is_tolerated(const Buffers& buffers, T found, T expected, double error) {
    if constexpr (std::is_same_v<T, Half>)
        return buffers.errors && buffers.errors->tolerates_floating(found, expected, [&] { return error; });
    else
        return buffers.near_enough(found, expected);
}

template <typename T>
Check check_of(const Kind& kind, const Function& f, std::vector<T> args, std::size_t items, int rounds,
               const std::shared_ptr<std::map<std::string, double>>& observed) {
    auto truth = mapped(args, [&](T x) { return f.reference(static_cast<long double>(x)); });
    return [=, &f, args = std::move(args),
            truth = std::move(truth)](const Buffers& buffers) -> std::optional<std::string> {
        const auto out = buffers.as<T>("out");
        const auto sums = buffers.as<std::uint32_t>("sums");
        double worst = 0;
        for (std::size_t i = 0; i < args.size(); ++i) {
            const double error = math::error_ulp(out[i], truth[i]);
            if (!is_tolerated(buffers, out[i], math::rounded_to<T>(truth[i]), error) &&
                !acceptable(kind, f, out[i], truth[i], error))
                return called_name(kind, f) + "(" + shown(args[i]) + ") is " + shown(out[i]) + ", expected " +
                       shown(static_cast<double>(truth[i])) + ": an error of " + text_of(error) + " ulp";
            worst = std::max(worst, error);
        }
        for (std::size_t i = 0; i < out.size(); ++i) {
            if (std::memcmp(&out[i], &out[i % args.size()], sizeof(T)) != 0)
                return concat("out[", i, "] differs from another work-item's result for the same argument");
        }
        for (std::size_t i = 0; i < items; ++i) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, &out[4 * i + 3], sizeof(T));
            std::uint32_t sum = 0;
            for (std::int32_t k = 0; k < buffers.trips * rounds; ++k) sum = sum * 3 + static_cast<std::uint32_t>(bits);
            if (sums[i] != sum)
                return concat("sums[", i, "] is ", sums[i], ", expected ", sum,
                              ": calls were left out or gave other results");
            if (i >= 64 && buffers.trips > 4) i += 61;  // all work-items of the first waves, then one in 62
        }
        (*observed)["error"] = worst;
        return std::nullopt;
    };
}

template <typename T>
void fill(Setup& out, const Request& request, Params& params, const Kind& kind, const Function& f, std::size_t items,
          int rounds) {
    const double most = std::is_same_v<T, Half> ? math::most_half(f)
                        : kind.is_prefixed()    ? 65536  // half_sin is defined up to 2^16
                                                : 1e30;
    const auto range = math::arguments(f, params.text("class"), most);
    const std::size_t period = std::min(items, most_arguments / 4);
    std::vector<T> args(4 * period);
    Random random(request.seed);
    for (auto& x : args)
        x = math::rounded_to<T>(range.low + (range.high - range.low) * static_cast<double>(random() >> 11) * 0x1p-53);
    for (const T x : args) {
        if (kind.is_loose() && !std::isfinite(f.reference(static_cast<long double>(x))))
            throw Unsupported(called_name(kind, f), "(", shown(x),
                              ") is not finite; native_, half_ and fast-math functions are undefined there");
    }
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;
    out.args = {Input{"args", share(args)},
                Output{"out", 4 * items * sizeof(T)},
                Output{"sums", items * sizeof(std::uint32_t)},
                value("mask", Bits{0}),
                value<std::uint32_t>("period", period),
                trips()};
    out.observed = std::make_shared<std::map<std::string, double>>();
    out.check = check_of<T>(kind, f, std::move(args), items, rounds, out.observed);
}

Setup setup(const Request& request, Params& params) {
    const auto& device = request.device;
    auto kind = kind_of(request.variant.name);
    kind.by_instruction = by_instruction(device, kind);
    if (kind.flavour == "fp16" && !device.fp16 && !kind.by_instruction)
        throw Unsupported("the device has no half precision arithmetic");
    const auto& f = function_of(params, kind);
    std::size_t items = 1, groups = 1;
    if (device.is_gpu()) items = std::min<std::size_t>(kind.rate ? 256 : wave_width(device), device.max_group);
    if (kind.rate) {
        if (!device.is_gpu()) items = std::min<std::size_t>(16, device.max_group);
        groups = is_simulator(device) ? 1 : device.compute_units * (device.is_gpu() ? 8u : 4u);
    }
    // Rounds of four calls per trip. Sixteen copies of a sine take a compiler seconds and gain nothing.
    const int rounds = f.is_short ? 4 : 1;
    Setup out;
    const bool wide = kind.flavour == "double", is_half = kind.flavour == "fp16";
    if (is_half)
        fill<Half>(out, request, params, kind, f, items * groups, rounds);
    else if (wide)
        fill<double>(out, request, params, kind, f, items * groups, rounds);
    else
        fill<float>(out, request, params, kind, f, items * groups, rounds);
    if (wide) out.extensions = {"cl_khr_fp64"};
    if (is_half) out.extensions = {"cl_khr_fp16"};
    launch_groups(out, groups, items);
    // Latency: one call after the other. Rate: all calls of the device, so that a step is 1 / (calls per second).
    const double calls = 4.0 * rounds * (kind.rate ? static_cast<double>(items * groups) : 1);
    // Use more calls on a CPU, because its launches vary by more than so few take.
    const int low = (kind.rate ? 64 : device.is_cpu() ? 2048 : 256) / rounds;
    out.slope = slope(device, low, 3 * low, calls);
    out.slope->may_be_free = std::string(f.name) == "identity";
    // fmod may use integer instructions, which cannot be distinguished from the chain around it.
    if (!out.slope->may_be_free && std::string(f.name) != "fmod")
        out.declared = {{Declared::What::function, 4.0 * rounds, wide ? 64u : is_half ? 16u : 32u}};
    out.work.steps = kind.rate ? 1 : 0;
    const auto name = called_name(kind, f);
    if (kind.by_instruction) out.defines.push_back("BY_INSTRUCTION");
    const std::string type = wide                  ? "double"
                             : kind.by_instruction ? "ushort"
                             : is_half             ? "half"
                                                   : "float",
                      bits = wide      ? "ulong"
                             : is_half ? "ushort"
                                       : "uint";
    out.defines.insert(out.defines.end(), {"TYPE=" + type, "BITS=" + bits, "AS_TYPE=as_" + type, "AS_BITS=as_" + bits,
                                           concat("REPEAT=", rounds), "F=" + name, "F_" + name});
    return out;
}

double calls(const Setup& setup, double seconds) { return setup.work.steps > 0 ? 1 / seconds : NAN; }

double error(const Setup& setup, double) {
    if (!setup.observed) return NAN;
    const auto found = setup.observed->find("error");
    return found == setup.observed->end() ? NAN : found->second;
}

std::vector<Finding> conclude(const std::vector<Curve>& curves, const Device& device) {
    std::vector<Finding> out;
    // Variant and class -> time of the chain without a call.
    std::map<std::pair<std::string, std::string>, double> chain;
    for (const auto& curve : curves) {
        if (!curve.samples.empty() && curve.fixed.text("function") == "identity")
            chain[{curve.variant, curve.fixed.text("class")}] = curve.samples.front().per_step;
    }
    for (const auto& curve : curves) {
        if (curve.samples.empty() || curve.fixed.text("function") == "identity") continue;
        const auto& s = curve.samples.front();
        const auto kind = kind_of(curve.variant);
        const auto* f = math::find(curve.fixed.text("function"));
        if (!f) continue;
        const auto of_class = curve.fixed.text("class");
        const std::string type = is_one_of(kind.flavour, {"double", "fast", "fp16"}) ? " " + kind.flavour : "";
        const std::string name = called_name(kind, *f) + type + (of_class == "medium" ? "" : " of " + of_class);
        const std::string id = (kind.flavour.empty() ? "" : kind.flavour + "_") + f->name + "." + of_class;
        const auto ulp = metric(s, "error");
        const std::string error_text =
            (by_instruction(device, kind) ? ", the processor's approximate instruction" : std::string()) +
            (ulp ? "; largest error " + text_of(std::round(100 * *ulp) / 100) + " ulp" : "");
        const auto without = chain.find({curve.variant, of_class});
        if (kind.rate) {
            out.push_back(rate_finding("rate." + id, name + " rate", "call/s", s, 1,
                                       "all units, four chains per work-item" + error_text));
        } else if (without != chain.end()) {
            const double less = without->second;
            out.push_back({"latency." + id, name + " latency", "s", s.per_step - less, s.low - less, s.high - less,
                           "slope over dependent calls, less the chain's own time" + error_text});
        } else {
            out.push_back(step_finding("latency.chain." + id, name + " latency with its chain", s,
                                       "slope over dependent calls; add function=identity to "
                                       "subtract the chain" +
                                           error_text));
        }
    }
    return out;
}

Experiment describe() {
    auto out = family("math", setup,
                      {.metrics = {{"calls", "call/s", Better::higher, calls}, {"error", "ulp", Better::lower, error}},
                       .conclude = conclude});
    out.axes.front().choices = mapped(math::functions(), [](const auto& f) { return std::string(f.name); });
    return out;
}

}  // namespace cllab::model::math_family
