#include "explain/cores.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "core/units.hpp"
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

}  // namespace

double had_share(const Record& record, double parallel) {
    constexpr double nearly_all = 0.95;
    const double share = is_gpu(record) ? 1 : record.time->share_of(parallel);
    return share < nearly_all ? share : 1;
}

Bound on_cores_had(Bound bound, const Record& record, double parallel, double already) {
    const double share = had_share(record, parallel);
    if (already * share >= 1) return bound;
    for (double* seconds : {&bound.seconds, &bound.low, &bound.high}) *seconds /= already * share;
    bound.how += ", on " + format_significant(share * parallel, 3) + " of " + format_exact(parallel) + (parallel > 1 ? " cores" : " core") +
                 ": others had the rest";
    return bound;
}

double parallel_of(const Record& record, const Limits& limits) {
    return record.work.groups > 0 ? std::min<double>(limits.units, record.work.groups) : limits.units;
}

void let_cores_come(const Record& record, const Limits& limits, Explanation& out) {
    const auto* spread = limits.find("launch.spread");
    const double n = limits.units;
    if (!spread || is_gpu(record) || n < 2 || record.work.launches != 1 || record.work.groups < n || had_share(record, n) < 1) return;
    const auto launch = std::find_if(out.bounds.begin(), out.bounds.end(), [](const Bound& b) { return b.id == "launch"; });
    double most = 0;
    for (auto& bound : out.bounds) {
        if (bound.id != "launch" && bound.id != "groups") most = std::max(most, bound.seconds);
        if (!is_of_a_core(bound, limits) || (n - 1) * bound.seconds > spread->value) continue;
        // Where that would have taken longer than it took, they were there earlier, and where it takes no longer than the launch, they come with it.
        if (n * bound.seconds > 1.1 * record.time->median || (launch != out.bounds.end() && n * bound.seconds < launch->seconds)) continue;
        bound.seconds *= n;
        bound.high *= n;
        bound.how += ", on one core: the others come to a launch when it is over";
    }
    if (launch == out.bounds.end() || (n - 1) * most <= spread->value || launch->seconds >= spread->value) return;
    launch->how += ", on all cores " + format_seconds(spread->value);
    launch->seconds = spread->value;
    launch->low = std::max(launch->low, spread->low / 2);
    launch->high = std::max(launch->high, spread->high);
}

}  // namespace cllab::explain
