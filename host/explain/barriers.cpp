// The barriers of a work-item follow one another, so their measured times add up. On a CPU, the measured time is that
// of one work-item at one barrier.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/units.hpp"
#include "explain/bounds.hpp"

namespace cllab::explain {
namespace {

/// The barrier time of the largest measured work-group with at most `group` work-items.
const Figure* barrier_of_group(const Limits& limits, double group) {
    constexpr std::string_view head = "barrier.plain.";
    const Figure* found = nullptr;
    double largest = 0;
    for (const auto& f : limits.figures) {
        const auto size = f.id.starts_with(head) ? parse_real(f.id.substr(head.size())) : std::nullopt;
        if (!size || *size > std::max(1.0, group) || *size < largest || !(f.value > 0)) continue;
        found = &f;
        largest = *size;
    }
    return found;
}

}  // namespace

void bound_barriers(const Record& record, const Limits& limits, Explanation& out) {
    const auto& work = record.work;
    if (work.barriers <= 0) return;
    if (const auto* item = limits.find("barrier.item")) {
        // At each barrier, a CPU thread loops over the work-items of its work-group.
        const double units = limits.units, rounds = std::ceil(std::max(1.0, work.groups) / units);
        if (work.group <= 0) return out.leave_out("barriers", "the driver chooses the work-group size");
        auto bound = at_time("barriers", "barriers", "barriers", work.barriers * work.group * rounds, *item);
        add_asked(record,
                  on_available_cores(std::move(bound), record, parallel_of(record, limits),
                                     rounds * units / std::max(work.groups, units)),
                  out);
    } else if (const auto* each = barrier_of_group(limits, work.group)) {
        // Rounds of work-groups pass their barriers one after another.
        const double rounds = record.counts ? rounds_of(record, limits) : 1;
        add_asked(record, at_time("barriers", "barriers", "barriers", work.barriers * rounds, *each), out);
    } else {
        if (barrier_of_group(limits, std::numeric_limits<double>::infinity()))
            return out.leave_out("barriers", "the profile has no barrier time for so few work-items");
        out.lacks("barriers", "barrier time", "barrier.item");
    }
}

}  // namespace cllab::explain
