// fma: latency, throughput, loop and fetch cost of the fused multiply-add. Its latency also shows the clock, and a
// staircase over saturating work-groups shows the number of compute units.
#include "experiments/lib/chain.hpp"
#include "experiments/lib/family.hpp"
#include "model/work.hpp"

namespace cllab::model::fma_family {

using namespace lib;

/// One cell's sizes, all resolved.
struct Shape {
    std::string variant, type;
    std::size_t width = 1, ilp = 1, unroll = 1, ahead = 0, items = 1, groups = 1;
    std::int64_t steps = 0;  ///< approximate links of each chain in the shorter run
    bool single = false;     ///< a link is an addition or a multiplication
};

Shape shape_of(const Device& device, const std::string& variant, Params& params) {
    const bool gpu = device.is_gpu();
    Shape s{.variant = variant, .single = is_one_of(variant, {"add", "multiply"})};
    if (variant == "clock") return s;
    const bool one_chain = s.single || variant == "latency";
    s.type = params.text("type");
    s.width = params.count("width");

    // Four chains fill a GPU, which also has other waves, and a CPU at 16 elements (eight 32-byte vectors). Wider
    // vectors of a CPU show at ilp=8.
    const std::size_t chains = one_chain ? 1 : variant == "peak" || variant == "units" ? 4 : 2;
    s.ilp = params.count("ilp", chains);
    if (variant == "code")
        s.unroll = std::max<std::size_t>(1, params.count("code", 1024) / s.ilp);
    else
        s.unroll = params.count("unroll", variant == "peak" || variant == "align" ? 16 : 64);
    if (variant == "align") s.ahead = params.count("ahead");

    if (!one_chain) {
        const std::size_t wave = wave_width(device);
        const std::size_t waves = !gpu ? 1 : variant == "units" ? 1024 / wave : variant == "peak" ? 256 / wave : 16;
        s.items =
            wave * params.count("waves", std::max<std::size_t>(1, std::min(waves, device.max_group_promised / wave)));
    }
    require_group(device, s.items);
    const double one_group = std::round(1e8 / device.compute_units) / 1e6;
    s.groups = groups_for(params.real("load", variant == "peak" ? (gpu ? 800 : 400) : one_group), device);

    // Links of each chain, so that a run takes about 50 us to 1 ms on anything from one core to a large GPU.
    s.steps = 32768;
    if (variant == "peak") s.steps = 4096;
    if (variant == "ilp")
        s.steps = std::clamp<std::int64_t>((1 << 22) / static_cast<std::int64_t>(s.items * s.ilp), 4096, 32768);
    if (variant == "units") s.steps = gpu ? 4096 : 131072;  // a CPU's threads must wake up in far less than a step
    if (s.type == "ushort")
        s.steps = std::min<std::int64_t>(s.steps, 16384);  // after 65536 steps the chain repeats its values
    return s;
}

template <typename T>
void fill(Setup& out, const Shape& s, std::uint64_t seed, T c, std::vector<T> starts) {
    starts.resize(4 + s.ilp * s.width);
    if constexpr (std::is_integral_v<T>) {
        Random random(seed);
        for (auto& x : starts) x = static_cast<T>(random());
    }
    T (*step)(T, T) = chain_step;
    if constexpr (std::is_floating_point_v<T>) {
        if (s.variant == "add") step = [](T x, T y) { return x + y; };
        if (s.variant == "multiply") step = [](T x, T y) { return x * y; };
    }
    out.args = {Input{"start", share(starts)}, Output{"out", s.items * s.groups * s.width * sizeof(T)},
                value("constant_c", c), trips()};
    out.check = [=, starts = std::move(starts)](const Buffers& buffers) {
        const std::int64_t steps = static_cast<std::size_t>(buffers.trips) * s.unroll + s.ahead;
        const auto sums = chain_sums(starts, c, steps, s.ilp, s.width, step);
        return first_difference<T>(buffers, "out", [&](std::size_t at) { return sums[at % sums.size()]; });
    };
}

Setup setup_clock(const Request& request) {
    Setup out;
    constexpr std::int32_t most = 1 << 24;
    out.defines = {"LAB_CLOCK"};
    // cl_khr_kernel_clock requires OpenCL C 2; NVIDIA's and AMD's counters need no extension.
    const auto implementation = request.device.implementation;
    if (implementation != Implementation::nvidia && implementation != Implementation::amd) {
        out.defines.push_back("-cl-std=CL3.0");
        out.extensions = {"cl_khr_kernel_clock"};
    }
    out.args = {Output{"out", 8}, value("most", most), trips()};
    out.global = out.local = Extent(1);
    out.slope = slope(request.device, 64, 3 * 64, 1024);
    // A waiting thread may lose its core for a while, so a much larger count is no fault of the counter.
    constexpr std::uint64_t second = std::uint64_t{1} << 32;
    out.check = [](const Buffers& buffers) -> std::optional<std::string> {
        const auto waited = buffers.as<std::uint64_t>("out")[0];
        const auto wanted = static_cast<std::uint64_t>(buffers.trips) * 1024;
        if (waited >= wanted && waited < wanted + second) return std::nullopt;
        return concat("the counter advanced by ", waited, ", expected ", wanted, " and little more");
    };
    return out;
}

/// Whether half arithmetic uses pairs, which the device has although its language lacks cl_khr_fp16 (NVIDIA).
bool in_pairs(const Device& device, const Shape& s) {
    return s.type == "half" && !device.fp16 && device.compute_capability >= 53;
}

Setup setup(const Request& request, const Shape& s) {
    if (request.variant.name == "clock") return setup_clock(request);
    const auto& device = request.device;
    if (s.type == "double" && !device.fp64) throw Unsupported("the device has no double precision");
    const bool pairs = in_pairs(device, s);
    if (pairs && s.width != 2) throw Unsupported("this device computes half precision in pairs only; use width=2");
    if (s.type == "half" && !device.fp16 && !pairs) throw Unsupported("the device has no half precision arithmetic");

    if (s.single && s.type != "float" && s.type != "double")
        throw Unsupported("the chains of additions and of multiplications are of type float or double");

    Setup out;
    const std::size_t count = 4 + s.ilp * s.width;
    // A chain of products must not overflow.
    const double c = s.variant == "multiply" ? 1 + 0x1p-13 : chain_constant;
    if (s.type == "double")
        fill<double>(out, s, request.seed, c, chain_starts<double>(count, request.seed));
    else if (s.type == "half")
        fill<Half>(out, s, request.seed, to_half(c), mapped(chain_starts<float>(count, request.seed), to_half));
    else if (s.type == "uint")
        fill<std::uint32_t>(out, s, request.seed, 0x2545F491u, {});
    else if (s.type == "ushort")
        fill<std::uint16_t>(out, s, request.seed, 0xF491, {});
    else
        fill<float>(out, s, request.seed, static_cast<float>(c), chain_starts<float>(count, request.seed));
    launch_groups(out, s.groups, s.items);
    const auto trips = std::max<std::int64_t>(1, s.steps / static_cast<std::int64_t>(s.unroll));
    // A step is one link of every chain.
    out.slope = slope(device, trips, 3 * trips, s.unroll);
    const auto links =
        static_cast<double>(s.ilp * s.width) *
        (request.variant.name == "nested" || request.variant.name == "unrolled" ? 1.0 : static_cast<double>(s.unroll));
    const auto bits = s.type == "double" ? 64u : s.type == "half" || s.type == "ushort" ? 16u : 32u;
    out.declared = {{s.single                ? Declared::What::function
                     : is_whole_type(s.type) ? Declared::What::integer_multiply
                                             : Declared::What::multiply_add,
                     links, bits}};
    out.chained = request.variant.name == "latency";
    out.work.flops = (s.single ? 1.0 : 2.0) * (s.items * s.groups * s.ilp * s.width);
    if (pairs) out.defines.push_back("PAIRS");
    if (s.type == "half") out.extensions = {"cl_khr_fp16"};
    if (s.type == "double") out.extensions = {"cl_khr_fp64"};
    out.defines.insert(out.defines.end(),
                       {"TYPE=" + (pairs ? "ushort" : s.type), "TYPE_" + s.type, concat("WIDTH=", s.width),
                        concat("ILP=", s.ilp), concat("UNROLL=", s.unroll)});
    for (unsigned digit = 0; digit < 4; ++digit)
        out.defines.push_back(concat("UNROLL_", digit, "=", s.unroll >> (4 * digit) & 15));
    if (request.variant.name == "align") out.defines.push_back(concat("AHEAD=", s.ahead));
    return out;
}

bool is_integer(const Setup& setup) {
    return !setup.declared.empty() && setup.declared.front().what == Declared::What::integer_multiply;
}
double flops(const Setup& setup, double seconds) { return is_integer(setup) ? NAN : setup.work.flops / seconds; }
double integer_ops(const Setup& setup, double seconds) { return is_integer(setup) ? setup.work.flops / seconds : NAN; }

Experiment describe() {
    return family(
        "fma", shape_of, setup,
        {.metrics = {{"flops", "FLOP/s", Better::higher, flops}, {"ops", "op/s", Better::higher, integer_ops}},
         .conclude = fma_findings});
}

}  // namespace cllab::model::fma_family
