// barrier: time of a work-group barrier by the size of the group.
#include "experiments/lib/family.hpp"

namespace cllab::model::barrier_family {

using namespace lib;

constexpr std::int32_t passes_per_trip = 8;

std::vector<std::uint32_t> results(const std::string& variant, std::uint32_t lanes, std::uint32_t c,
                                   std::int32_t trips) {
    const auto passes = static_cast<std::uint32_t>(trips) * passes_per_trip;
    std::vector<std::uint32_t> out(lanes);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        if (variant == "exchange") {
            out[lane] = static_cast<std::uint32_t>((lane + static_cast<std::uint64_t>(passes)) % lanes) + passes * c;
        } else {
            std::uint32_t x = lane;
            for (std::uint32_t i = 0; i < passes; ++i) x = x * 5 + c;
            out[lane] = x;
        }
    }
    return out;
}

Setup setup(const Request& request, Params& params) {
    const auto& device = request.device;
    const auto& variant = request.variant.name;
    const std::uint32_t lanes = params.count("group");
    require_group(device, lanes);
    const std::uint32_t c = mix64(request.seed);
    Setup out;
    out.args = {Output{"out", lanes * 4ull}};
    if (variant == "exchange") out.args.push_back(Local{"place", lanes * 8ull});
    out.args.push_back(value("c", c));
    out.args.push_back(trips());
    out.global = out.local = Extent(lanes);
    // A CPU loops over the work-items at each barrier, so the time is proportional to their number.
    const std::int32_t low =
        device.is_cpu() ? std::clamp<std::int32_t>(static_cast<std::int32_t>(65536 / lanes), 64, 4096) : 256;
    out.slope = slope(device, low, 4 * low, passes_per_trip);
    // A group of up to one wave needs no barrier, and compilers that know its size omit it. On a CPU, barriers end
    // loops over the work-items, and the compiler may keep their memory in registers.
    if (!device.is_cpu() && variant != "none" && lanes > 64)
        out.declared.push_back({Declared::What::barrier, passes_per_trip});
    if (!device.is_cpu() && variant == "exchange" && lanes > 1) {
        out.declared.push_back({Declared::What::local_store, passes_per_trip, 32});
        out.declared.push_back({Declared::What::local_load, passes_per_trip, 32});
    }
    out.check = [=](const Buffers& buffers) {
        return first_difference(buffers, "out", results(variant, lanes, c, buffers.trips));
    };
    return out;
}

std::vector<Finding> conclude(const std::vector<Curve>& curves, const Device& device) {
    std::vector<Finding> out;
    const auto* none = curve_of(curves, "none");
    for (const auto& curve : curves) {
        if (curve.samples.empty() || curve.variant == "none") continue;
        const auto& largest = curve.samples.back();
        const auto size = text_of(largest.x);
        const auto name = curve.variant == "plain" ? "barrier of " + size : "exchange among " + size;
        const auto* base = none ? sample_at(*none, largest.x) : nullptr;
        std::string how = "one work-group: store, barrier and load from the neighbour through local memory";
        if (curve.variant == "plain")
            how = "one work-group, a multiply-add before each barrier" +
                  (base ? ", which alone takes " + format_seconds(base->per_step) : "");
        if (!device.is_cpu()) {
            out.push_back(step_finding(curve.variant, name, largest, how));
            for (const auto& s : curve.samples)
                if (curve.variant == "plain")
                    out.push_back(step_finding("plain." + text_of(s.x), "barrier of " + text_of(s.x), s,
                                               "one work-group, a multiply-add before each barrier"));
            if (curve.samples.size() > 1)
                out.push_back(
                    step_finding(curve.variant + ".smallest",
                                 (curve.variant == "plain" ? "barrier" : curve.variant) + " of the smallest group",
                                 curve.samples.front(), "the same in a group of " + text_of(curve.samples.front().x)));
            continue;
        }
        if (curve.variant != "plain") continue;
        out.push_back({"item", "barrier per work-item", "s", largest.per_step / largest.x, largest.low / largest.x,
                       largest.high / largest.x,
                       "group of " + size + ", one thread walks through its work-items from barrier to barrier"});
        if (!base) continue;
        const char *id = "split", *title = "loop with barriers against without";
        if (largest.per_step < base->per_step)
            out.push_back(
                withheld(id, title,
                         "a step of the group takes " + format_seconds(largest.per_step) + " with barriers and " +
                             format_seconds(base->per_step) +
                             " without: the compiler splits the loop at barriers and then computes work-items side by "
                             "side, which hides the cost of the barriers"));
        else
            out.push_back({id, title, "x", largest.per_step / base->per_step, largest.low / base->high,
                           largest.high / base->low,
                           "group of " + size + ": the loop is split and private variables go through memory"});
    }
    return out;
}

Experiment describe() { return family("barrier", setup, {.conclude = conclude}); }

}  // namespace cllab::model::barrier_family
