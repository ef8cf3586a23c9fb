// Launch overhead and group dispatch, as measured with empty kernels.
#include <algorithm>

#include "explain/bounds.hpp"

namespace cllab::explain {
namespace {

/// The measured empty launch that is most like the record's launch.
const Figure* empty_launch(const Record& record, const Limits& limits) {
    const auto& work = record.work;
    const auto* empty = limits.find("launch.empty.item");
    if (!empty || is_gpu(record) || work.groups < 2) return empty;
    // A CPU launch may wait until all its threads have woken up: 26 us with 16 groups, 19 us with one (`cllab run
    // launch`, PoCL, 16 cores).
    const auto* on_all = limits.find("launch.empty.device");
    if (!on_all) return empty;
    if (on_all->value > empty->value) empty = on_all;
    // With a work-group for every core, a launch also waits until all threads work. `launch.spread` includes this wait.
    const auto* all = work.groups >= limits.units ? limits.find("launch.spread") : nullptr;
    return all && all->value > empty->value && record.time->median > all->value ? all : empty;
}

/// Adds the load latency of the last work-group, which starts after all others. A GPU's L1 keeps no data from the
/// launch before (`cllab run latency`), so data that is read once comes from L2 or farther away.
Bound with_last_load(Bound bound, const Record& record, const Limits& limits) {
    const auto& work = record.work;
    const auto* load = limits.find("latency.l2.latency");
    if (!is_gpu(record) || !load || work.read.value_or(0) <= 0 || work.bytes > 1.01 * work.footprint) return bound;
    add(bound, at_time("", "", "", 1, *load));
    bound.how += " for the load of the last work-group";
    return bound;
}

}  // namespace

void bound_launch(const Record& record, const Limits& limits, Explanation& out) {
    const auto& work = record.work;
    if (work.launches == 0) return;  // the time of one step (Slope) contains no launch overhead
    const auto* empty = empty_launch(record, limits);
    if (!empty) return out.lacks("launch", "empty kernel", "launch.empty.item");
    auto bound = at_time("launch", "launch", "launch", 1, *empty);
    const auto* next = limits.find("launch.next.item");
    // A CPU's threads may sleep before the second launch, and stay awake afterwards.
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
