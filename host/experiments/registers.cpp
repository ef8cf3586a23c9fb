// registers: the register limit of a work-item and of a work-group. Naming a high register in assembly tests only the
// encoding. So the limit is found as in real kernels: by more and more live values, until they spill.
#include "experiments/lib/chain.hpp"
#include "experiments/lib/family.hpp"

namespace cllab::model::registers_family {

using namespace lib;

/// The encoding test: a kernel stores a known number and names its register.
Setup setup_encoding(const std::string& variant) {
    const std::uint32_t number = std::stoul(variant.substr(1));
    Setup out;
    out.args = {Output{"out", 4}};
    out.global = out.local = Extent(1);
    out.check = [number](const Buffers& buffers) {
        return first_difference<std::uint32_t>(buffers, "out", [&](std::size_t) { return number; });
    };
    return out;
}

Setup setup(const Request& request, Params& params) {
    const auto& device = request.device;
    if (request.variant.name != "live") return setup_encoding(request.variant.name);
    if (device.is_cpu())
        throw Unsupported(
            "a CPU spills registers to its L1 cache, so the times show no register limit; `lscpu` names the "
            "instruction sets, which determine the registers and the SIMD width");
    const auto live = params.count("live");
    const auto items = params.count("items");
    require_group(device, items);
    const std::size_t groups = is_simulator(device) ? 1 : 4ull * device.compute_units;

    std::size_t repeat = 1;
    while (repeat < 16 && repeat * live < 128) repeat *= 2;

    auto starts = chain_starts<float>(4 + live, request.seed);
    const float c = chain_constant;
    Setup out;
    out.args = {Input{"start", share(starts)}, Output{"out", items * groups * 8 * sizeof(float)},
                value("constant_c", c), trips()};
    launch_groups(out, groups, items);
    // A step is one multiply-add per work-item, so that the curve over `live` is flat until values spill.
    const std::int64_t trips = std::max<std::size_t>(4, 32768 / live / repeat);
    out.slope = slope(device, trips, 3 * trips, live * repeat);
    out.declared = {{Declared::What::multiply_add, static_cast<double>(live * repeat), 32}};
    out.work.flops = 2.0 * (items * groups);
    out.defines = {concat("COUNT=", live / 8), concat("REPEAT=", repeat)};
    out.check = [=, starts = std::move(starts)](const Buffers& buffers) {
        const std::int64_t steps = static_cast<std::size_t>(buffers.trips) * repeat;
        const auto sums = chain_sums(starts, c, steps, live / 8, 8);
        return first_difference<float>(buffers, "out", [&](std::size_t at) { return sums[at % sums.size()]; });
    };
    return out;
}

double flops(const Setup& setup, double seconds) { return setup.work.flops > 0 ? setup.work.flops / seconds : NAN; }

void conclude_items(const Curve& curve, std::vector<Finding>& out) {
    const double items = curve.fixed.real("items");
    const std::string of = text_of(items), with = " with groups of " + text_of(items);
    const auto live = xs(curve);
    double most_registers = 0, last_without_spills = 0, first_with_spills = 0;
    for (const auto& s : curve.samples) {
        if (const auto n = metric(s, "registers")) most_registers = std::max(most_registers, *n);
        if (const auto n = metric(s, "spills")) {
            if (*n == 0)
                last_without_spills = std::max(last_without_spills, s.x);
            else if (first_with_spills == 0 || s.x < first_with_spills)
                first_with_spills = s.x;
        }
    }
    if (most_registers > 0) {
        out.push_back(figure("item." + of, "registers per work-item" + with, "", most_registers,
                             "most that the compiler reports over " + text_of(live.front()) + " to " +
                                 text_of(live.back()) + " live values"));
        out.push_back(figure("group." + of, "registers per group" + with, "", most_registers * items,
                             "a group of that size was launched with them: the register file holds at least as many"));
    }
    if (first_with_spills > 0)
        out.push_back({"live.spills." + of, "live values without spills" + with, "", last_without_spills,
                       last_without_spills, first_with_spills,
                       "compiler-reported spills; high is the next number tried"});
    if (const auto knee = fit_step(live, steps(curve)); knee && knee->after > knee->before)
        out.push_back(figure("live.speed." + of, "live values at full speed" + with, "", knee->position,
                             "knee of the time of a multiply-add, " +
                                 text_of(std::round(10 * knee->after / knee->before) / 10) + " times slower beyond"));
}

void conclude(const Curve& curve, const Device&, std::vector<Finding>& out) {
    if (curve.variant == "live")
        conclude_items(curve, out);
    else
        out.push_back(figure("encoding." + curve.variant, "assembler takes " + curve.variant, "",
                             std::stod(curve.variant.substr(1)), "encoding test: it says nothing about the chip"));
}

Experiment describe() {
    return family("registers", setup,
                  {.metrics = {{"flops", "FLOP/s", Better::higher, flops}}, .conclude = of_each(conclude)});
}

}  // namespace cllab::model::registers_family
