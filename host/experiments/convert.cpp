// convert: time and rate of conversions between numbers of different types.
#include "core/half.hpp"
#include "experiments/lib/family.hpp"

namespace cllab::model::convert_family {

using namespace lib;

constexpr std::size_t period = 256;  // work-items repeat the arguments with this period

/// From a word to a word, as in the kernel.
struct Conversion {
    const char* name;
    std::uint32_t (*argument)(std::uint32_t random);
    std::uint32_t (*result)(std::uint32_t argument);
};

std::uint32_t any(std::uint32_t random) { return random; }
/// Of either sign, from 2^-14 to 2^15: neither denormal nor infinite as a half.
std::uint32_t some_float(std::uint32_t random) {
    return (random & 0x807FFFFF) | (113 + (random >> 23 & 255) % 29) << 23;
}
std::uint32_t some_half(std::uint32_t random) { return (random & 0x83FF) | (1 + (random >> 16) % 30) << 10; }
std::uint32_t some_int(std::uint32_t random) { return random % 1024 - 512; }
std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
float as_float(std::uint32_t word) { return std::bit_cast<float>(word); }
std::int32_t as_int(std::uint32_t word) { return static_cast<std::int32_t>(word); }

constexpr Conversion conversions[]{
    {"none", any, any},
    {"float_to_half", some_float, [](std::uint32_t w) -> std::uint32_t { return to_half(as_float(w)).bits; }},
    {"half_to_float", some_half,
     [](std::uint32_t w) { return bits(static_cast<float>(double{Half{static_cast<std::uint16_t>(w)}})); }},
    {"float_to_int", some_float,
     [](std::uint32_t w) { return static_cast<std::uint32_t>(static_cast<std::int32_t>(as_float(w))); }},
    {"int_to_float", any, [](std::uint32_t w) { return bits(static_cast<float>(as_int(w))); }},
    {"int_to_char", some_int,
     [](std::uint32_t w) { return static_cast<std::uint32_t>(std::clamp(as_int(w), -128, 127)) & 255; }},
    {"char_to_int", any,
     [](std::uint32_t w) {
         return static_cast<std::uint32_t>(static_cast<std::int8_t>(static_cast<std::uint8_t>(w)));
     }},
    {"float_to_uchar", some_float,
     [](std::uint32_t w) { return static_cast<std::uint32_t>(std::clamp(as_float(w), 0.0f, 255.0f)); }},
    {"uchar_to_float", any, [](std::uint32_t w) { return bits(static_cast<float>(w & 255)); }}};

Setup setup(const Request& request, Params& params) {
    const auto& device = request.device;
    const auto& conversion = *std::ranges::find(conversions, params.text("conversion"), &Conversion::name);
    const bool rate = request.variant.name == "rate";
    std::size_t items = 1, groups = 1;
    if (device.is_gpu() || rate) items = group_of(device, !device.is_gpu() ? 16 : rate ? 256 : wave_width(device));
    if (rate && !is_simulator(device)) groups = device.compute_units * (device.is_gpu() ? 8u : 4u);
    Random random(request.seed);
    std::vector<std::uint32_t> args(4 * period), expected;
    for (auto& a : args) a = conversion.argument(static_cast<std::uint32_t>(random() >> 32));
    for (const auto a : args) expected.push_back(conversion.result(a));

    Setup out;
    out.args = {
        Input{"args", share(args)},      Output{"out", 16 * items * groups},     Output{"sums", 4 * items * groups},
        value("mask", std::uint32_t{0}), value<std::uint32_t>("period", period), trips()};
    out.check = [expected](const Buffers& buffers) {
        const auto result = [&](std::size_t i) { return expected[i % expected.size()]; };
        const auto wrong = first_difference<std::uint32_t>(buffers, "out", result);
        return wrong ? wrong : first_difference<std::uint32_t>(buffers, "sums", [&](std::size_t i) {
            std::uint32_t sum = 0;
            for (std::int32_t k = 0; k < buffers.trips; ++k) sum = sum * 3 + result(4 * i + 3);
            return sum;
        });
    };
    launch_groups(out, groups, items);
    // Use more conversions on a CPU, because its launches vary by more than so few take.
    const int low = (rate ? 64 : 128) * (device.is_cpu() ? 8 : 1);
    out.slope = slope(device, low, 3 * low, static_cast<double>(16 * (rate ? items * groups : 1)));
    out.slope->may_be_free = conversion.name == std::string("none");
    out.chained = !rate;
    out.work.steps = 1;
    out.defines = {concat("F_", conversion.name)};
    // NVIDIA's language has these conversions only as instructions, and Oclgrind 21.10 stops at half values.
    if (device.fp16 && device.implementation != Implementation::nvidia && !is_simulator(device)) {
        out.defines.push_back("HALF");
        out.extensions = {"cl_khr_fp16"};
    }
    return out;
}

double conversions_of(const Setup& setup, double seconds) { return setup.chained ? NAN : 1 / seconds; }

std::vector<Finding> conclude(const std::vector<Curve>& curves, const Device&) {
    std::vector<Finding> out;
    std::map<std::string, const Curve::Sample*> without;  // by variant: the chain without a conversion
    for (const auto& curve : curves)
        if (!curve.samples.empty() && curve.fixed.text("conversion") == "none")
            without[curve.variant] = &curve.samples.front();
    for (const auto& curve : curves) {
        auto name = curve.fixed.text("conversion");
        const auto* none = without[curve.variant];
        if (curve.samples.empty() || name == "none" || !none) continue;
        const auto& s = curve.samples.front();
        const auto how = through(s, 16, std::max(1.0, metric(*none, "loop_instructions").value_or(NAN) / 16));
        const auto id = curve.variant + "." + name;
        std::ranges::replace(name, '_', ' ');
        if (curve.variant == "rate") {
            out.push_back(rate_finding(id, name + " rate", "op/s", s, 1, "all units, four chains per work-item" + how));
            continue;
        }
        out.push_back(step_finding(id, name + " latency", s,
                                   "slope over dependent conversions, less the chain's own time" + how));
        for (auto* end : {&out.back().value, &out.back().low, &out.back().high}) *end -= none->per_step;
    }
    return out;
}

Experiment describe() {
    auto out = family("convert", setup,
                      {.metrics = {{"conversions", "op/s", Better::higher, conversions_of}}, .conclude = conclude});
    auto& axis = out.axes.front();
    axis.choices = axis.values = mapped(conversions, [](const auto& c) { return std::string(c.name); });
    return out;
}

}  // namespace cllab::model::convert_family
