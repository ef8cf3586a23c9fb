// The launch itself, and the dispatch of its groups: an empty kernel takes as long.
#include <algorithm>

#include "explain/bounds.hpp"

namespace cllab::explain {
namespace {

/// The empty launch that is like the record's.
const Figure* empty_launch(const Record& record, const Limits& limits) {
    const auto& work = record.work;
    const auto* empty = limits.find("launch.empty.item");
    if (!empty || is_gpu(record) || work.groups < 2) return empty;
    // A launch on a CPU may end only when all of its threads have woken up: 26 us of 16 groups, 19 of one, by
    // `cllab run launch` on PoCL with 16 cores.
    const auto* on_all = limits.find("launch.empty.device");
    if (!on_all) return empty;
    if (on_all->value > empty->value) empty = on_all;
    // One that lasts longer waits until all of them work.
    const auto* all = work.groups >= limits.units ? limits.find("launch.spread") : nullptr;
    return all && all->value > empty->value && record.time->median > all->value ? all : empty;
}

/// The last group begins when all others have, and waits for what it loads. A GPU's first level holds nothing of the
/// launch before (`cllab run latency`: the first round through a footprint takes what the second level takes), so what
/// is moved once, but for an edge, comes from the second level at the nearest.
Bound with_last_load(Bound bound, const Record& record, const Limits& limits) {
    const auto& work = record.work;
    const auto* load = limits.find("latency.l2.latency");
    if (!is_gpu(record) || !load || work.read.value_or(0) <= 0 || work.bytes > 1.01 * work.footprint) return bound;
    add(bound, at_time("", "", "", 1, *load));
    bound.how += " of the last one's load";
    return bound;
}

}  // namespace

void bound_launch(const Record& record, const Limits& limits, Explanation& out) {
    const auto& work = record.work;
    if (work.launches == 0) return;  // of a slope, launching cancels
    const auto* empty = empty_launch(record, limits);
    if (!empty) {
        out.missing.push_back("launch.empty.item");
        return out.leave_out("launch", "the profile has no empty kernel");
    }
    auto bound = at_time("launch", "launch", "launch", 1, *empty);
    const auto* next = limits.find("launch.next.item");
    // A CPU's thread may have gone to sleep before the second one comes, and be awake when the others do.
    const auto* second = is_gpu(record) ? nullptr : limits.find("launch.second.item");
    if (work.launches > 1 && next && second) add(bound, at_time("", "", "", 1, *second));
    if (const double more = static_cast<double>(work.launches) - (second ? 2 : 1); more > 0 && next)
        add(bound, at_time("", "", "", more, *next));
    bound.low = std::min(bound.low, bound.seconds / (is_gpu(record) ? launch_changes_gpu : launch_changes_cpu));
    out.bounds.push_back(std::move(bound));
    if (work.groups <= 1) return;
    if (const auto* time = limits.find("dispatch.group.time"))
        out.bounds.push_back(at_time("groups", "group dispatch", "groups", work.groups, *time));
    else if (const auto* rate = limits.find("dispatch.group.rate"))
        out.bounds.push_back(
            with_last_load(at_rate("groups", "group dispatch", "groups", work.groups, "group", *rate), record, limits));
}

}  // namespace cllab::explain
