// issue: the most instructions that a CPU's cores execute per second, for comparison with those of a kernel.
#include "experiments/lib/family.hpp"

namespace cllab::model::issue_family {

using namespace lib;

constexpr std::size_t rounds = 16;  // of all chains per branch

struct Shape {
    std::size_t chains = 1, kinds = 1, groups = 1;

    [[nodiscard]] std::size_t instructions() const { return chains * kinds; }  ///< per work-item and round
};

Shape shape_of(const Device& device, const std::string& variant, Params& params) {
#if !defined(__x86_64__)
    throw Unsupported("the kernel consists of x86 instructions, and this cllab was built for another processor");
#endif
    return {params.count("chains"), variant == "mixed" ? 2u : 1u, device.compute_units * 4ull};
}

Setup setup(const Request& request, const Shape& s) {
    const auto& variant = request.variant.name;
    const auto bytes = random_bytes(4 * 21, request.seed);
    Setup out;
    out.args = {Input{"start", bytes}, Output{"out", 4 * s.groups}, trips()};
    launch_groups(out, s.groups, 1);
    // At least a tenth of a millisecond, which is more than the variation of launches to 16 cores.
    out.slope = slope(request.device, 4096, 3 * 4096, rounds);
    out.defines = {concat("CHAINS=", s.chains)};
    out.work.steps = s.instructions() * s.groups;
    out.check = [=](const Buffers& buffers) {
        const auto start = view<std::uint32_t>(bytes);
        const std::uint32_t times = rounds * static_cast<std::size_t>(buffers.trips);
        const std::uint32_t integer = variant == "vector" ? 0 : times * start[19],
                            vector = variant == "integer" ? 0 : times * start[20];
        std::uint32_t sum = 0;
        for (std::size_t j = 0; j < s.chains; ++j) {
            sum += start[j] + integer;
            for (std::uint32_t lane = 0; lane < 4; ++lane) sum += (start[8 + j + lane] + vector) * (2 * lane + 1);
        }
        return first_difference<std::uint32_t>(buffers, "out", [&](std::size_t) { return sum; });
    };
    return out;
}

std::vector<Finding> conclude(const std::vector<Curve>& curves, const Device& device) {
    Row best{};
    const auto instruction_rate = [](const Curve::Sample& s) { return metric(s, "instruction_rate").value_or(0); };
    const auto sure = [&](const Curve::Sample& s) { return sure_rate_of_all_cores(instruction_rate(s), s, device); };
    for (const auto& curve : curves)
        for (const auto& sample : curve.samples)
            if (!best.sample || sure(sample) > sure(*best.sample)) best = {&curve, &sample};
    if (!best.sample) return {};
    const auto& s = *best.sample;
    const double rate = rate_of_all_cores(instruction_rate(s), s, device);
    if (rate <= 0) return {};
    return {rate_finding("rate", "instruction rate", "instr/s", s, rate * s.per_step,
                         "best of the kinds of additions and chains, here " + best.curve->variant + ", " +
                             format_exact(s.x) + "; of all cores")};
}

Experiment describe() {
    return family("issue", shape_of, setup,
                  {.metrics = {rate_metric("instruction_rate", "instr/s", &Work::steps)}, .conclude = conclude});
}

}  // namespace cllab::model::issue_family
