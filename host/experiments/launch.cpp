// launch: the cost of starting a kernel: alone, in a series, and on all units. An operation of n launches takes n *
// next, so the slope over n is the cost of one more launch in a busy queue. An operation of one launch takes the
// kernel's own START to END.
#include "experiments/lib/family.hpp"

namespace cllab::model::launch_family {

using namespace lib;

constexpr std::uint32_t extra_arguments = 24;

/// Enough work that each unit of a CPU gets some of it: 2000 steps take one core about 2 us.
Setup set_up_spread(const Request& request, Params& params) {
    constexpr std::uint32_t steps = 2000;
    const auto groups = params.count("groups") * request.device.compute_units;
    const std::uint32_t token = Random(request.seed)();
    Setup out;
    out.args = {Output{"out", groups * sizeof(std::uint32_t)}, value("token", token),
                value<std::int32_t>("steps", steps)};
    launch_groups(out, groups, 1);
    out.check = [=](const Buffers& buffers) {
        return first_left(buffers, "work-group ", 1, [&](std::uint32_t group) {
            std::uint32_t v = token ^ group;
            for (std::uint32_t k = 0; k < steps; ++k) v = v * 1664525u + 1013904223u;
            return v;
        });
    };
    return out;
}

Setup setup(const Request& request, Params& params) {
    if (request.variant.name == "spread") return set_up_spread(request, params);
    const std::uint32_t launches = params.integer("launches");
    const auto& device = request.device;
    const bool with_arguments = request.variant.name == "arguments";
    Random random(request.seed);
    const std::uint32_t token = random();
    Setup out;
    out.args = {Output{"out", launches * sizeof(std::uint32_t)}, value("token", token)};
    std::uint32_t sum = 0;
    std::vector<std::string> extra;
    for (std::uint32_t i = 0; with_arguments && i < extra_arguments; ++i) {
        const std::uint32_t a = random();
        sum += a;
        extra.push_back(concat("a", i));
        out.args.push_back(value(extra.back(), a));
    }
    out.local = Extent(
        request.variant.name == "device" ? std::min<std::size_t>(device.is_gpu() ? 256 : 1, device.max_group) : 1);
    out.global = Extent(request.variant.name == "device" ? out.local.count() * device.compute_units : 1);
    for (std::uint32_t slot = 0; slot < launches; ++slot) {
        const auto name = concat("slot", slot);
        out.args.push_back(value(name, slot));
        std::vector<std::string> args{"out", name, "token"};
        args.insert(args.end(), extra.begin(), extra.end());
        out.steps.push_back(launch("launch", "", out.global, out.local, args));
    }
    out.work.steps = launches;
    out.check = [=](const Buffers& buffers) {
        return first_left(buffers, "launch ", 1, [&](std::uint32_t slot) { return token ^ slot ^ sum; });
    };
    return out;
}

double slope_of(const Curve::Sample& a, const Curve::Sample& b) { return (b.seconds - a.seconds) / (b.x - a.x); }

/// The rest of the time without work, from each pair of very different numbers of work-groups. It is the time that the
/// units lose until all of them work.
void conclude_spread(const Curve& curve, std::vector<Finding>& out) {
    std::vector<double> lost;
    for (const auto& b : curve.samples)
        for (const auto& a : curve.samples)
            if (b.x >= 4 * a.x) lost.push_back(a.seconds - slope_of(a, b) * a.x);
    if (lost.size() < least_for_interval) return;
    const auto found = summarise(lost);
    if (found.q1 > 0)
        out.push_back({"spread", "launch to all units", "s", found.median, found.q1, found.q3,
                       "START to END minus the time of the groups, over the number of work-groups of 2000 dependent "
                       "steps each: the time lost until all units work. Median and middle half"});
    else
        out.push_back(
            withheld("spread", "launch to all units", "it is lost in the difference between few and many work-groups"));
}

void conclude(const Curve& curve, const Device& device, std::vector<Finding>& out) {
    if (curve.variant == "spread") return conclude_spread(curve, out);
    const std::string what = curve.variant == "item"     ? ""
                             : curve.variant == "device" ? " with one group per unit"
                                                         : " with 24 arguments more";
    const auto *one = sample_at(curve, 1), *two = sample_at(curve, 2);
    if (one)
        out.push_back(figure("empty." + curve.variant, "empty kernel" + (what.empty() ? " of one work-item" : what),
                             "s", {one->seconds, one->low, one->high}, "START to END of one launch"));
    // The median slope of all pairs. A single disturbed point would bend a straight line through all of them, the
    // longest most of all.
    std::vector<double> slopes;
    for (const auto& b : curve.samples)
        for (const auto& a : curve.samples)
            if (b.x > a.x) slopes.push_back(slope_of(a, b));
    if (slopes.size() < least_for_interval) return;
    if (one && two && two->seconds > one->seconds)
        out.push_back(added_finding("second." + curve.variant, "second launch" + what, *one, *two, 1,
                                    "first START to last END over a row of operations of two launches: the time of one "
                                    "operation minus START to END of a single launch"));
    const auto slope = summarise(slopes);
    out.push_back(
        {"next." + curve.variant, "launch to launch" + what, "s", slope.median, slope.q1, slope.q3,
         "slope of first START to last END over the number of launches: median and middle half over all pairs"});
    if (curve.variant == "device" && device.is_gpu())
        out.push_back(
            withheld("spread", "launch to all units", "on a GPU the empty kernel with one group per unit tells it"));
}

Experiment describe() { return family("launch", setup, {.conclude = of_each(conclude)}); }

}  // namespace cllab::model::launch_family
