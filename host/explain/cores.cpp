#include "explain/cores.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "core/units.hpp"
#include "explain/limiter.hpp"
#include "explain/place.hpp"

namespace cllab::explain {

using model::Bound;
using model::Explanation;
using model::Limits;
using model::Record;

namespace {

/// Whether a core does the work of this bound alone, so that fewer of them take longer for all of it.
bool is_of_a_core(const Bound& bound, const Limits& limits) {
    if (bound.id == "arithmetic") return true;
    for (std::size_t level = 0; level + 1 < limits.caches.size(); ++level)
        if (bound.id == level_id(level)) return true;
    return false;
}

/// Little work may take longer than its bounds say, as where its lines are still in another core's cache, and then some
/// of the others come: 12 groups of next to nothing took 31 to 36 us, empty ones 23, and groups that all cores come to
/// 44 (PoCL with 16 cores). Between is a launch, where no other bound is near and an empty one is the
/// larger part of the time.
void add_partial_wake_up(const Record& record, const model::Figure& spread, const Explanation& found, Bound& launch) {
    const double time = record.time->median;
    const bool alone_explains = launch.seconds >= most_of_the_time * time, is_most = launch.seconds >= 0.5 * time;
    const auto is_near = [&](const Bound& b) {
        return b.id != launch.id && b.seconds >= clear_of_the_next * launch.seconds;
    };
    if (alone_explains || !is_most || time > 1.1 * spread.value ||
        std::any_of(found.bounds.begin(), found.bounds.end(), is_near))
        return;
    launch.how +=
        " where one core does all, and " + format_seconds(spread.value) + " where all come: the middle of both";
    launch.seconds = (launch.seconds + spread.value) / 2;
    launch.high = std::max(launch.high, spread.high);
}

}  // namespace

double available_share(const Record& record, double parallel) {
    constexpr double nearly_all = 0.95;
    const double share = is_gpu(record) ? 1 : record.time->share_of(parallel);
    return share < nearly_all ? share : 1;
}

Bound on_available_cores(Bound bound, const Record& record, double parallel, double already) {
    const double share = available_share(record, parallel);
    if (already * share >= 1) return bound;
    for (double* seconds : {&bound.seconds, &bound.low, &bound.high}) *seconds /= already * share;
    bound.how += ", on " + format_significant(share * parallel, 3) + " of " + format_exact(parallel) +
                 (parallel > 1 ? " cores" : " core") + ": others had the rest";
    return bound;
}

double parallel_of(const Record& record, const Limits& limits) {
    return record.work.groups > 0 ? std::min<double>(limits.units, record.work.groups) : limits.units;
}

void add_wake_up(const Record& record, const Limits& limits, Explanation& out) {
    const auto* spread = limits.find("launch.spread");
    const double n = limits.units;
    if (!spread || is_gpu(record) || n < 2 || record.work.launches != 1 || record.work.groups < n ||
        available_share(record, n) < 1)
        return;
    const auto launch =
        std::find_if(out.bounds.begin(), out.bounds.end(), [](const Bound& b) { return b.id == "launch"; });
    const auto* empty = limits.find("launch.empty.item");
    const double alone = empty ? empty->value : 0;
    double most = 0;
    for (auto& bound : out.bounds) {
        if (bound.id != "launch" && bound.id != "groups") most = std::max(most, bound.seconds);
        if (!is_of_a_core(bound, limits) || (n - 1) * bound.seconds > spread->value) continue;
        // Where a launch and that would have taken longer than it took, they were there earlier; what takes no longer
        // than a launch comes with it.
        const double by_one = n * bound.seconds;
        if (alone + by_one > 1.1 * record.time->median || (launch != out.bounds.end() && by_one < launch->seconds))
            continue;
        bound.seconds = by_one;
        bound.high *= n;
        bound.how += ", on one core: the other threads wake up after the launch is over";
    }
    if (launch == out.bounds.end() || launch->seconds >= spread->value) return;
    if ((n - 1) * most > spread->value) {
        launch->how += ", on all cores " + format_seconds(spread->value);
        launch->seconds = spread->value;
        launch->low = std::max(launch->low, spread->low / 2);
        launch->high = std::max(launch->high, spread->high);
    } else {
        add_partial_wake_up(record, *spread, out, *launch);
    }
}

}  // namespace cllab::explain
