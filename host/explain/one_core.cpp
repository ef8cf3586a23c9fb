#include "explain/one_core.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "core/units.hpp"
#include "explain/limiter.hpp"

namespace cllab::explain {
namespace {

constexpr const char* title = "execution in the cores";

/// The time on one core as part of the time on all cores. `how` continues the description.
Bound of_all_cores(const char* id, const char* name, const char* brief, const Timing& on_one, double cores,
                   const std::string& how) {
    return {id,
            name,
            brief,
            on_one.median / cores,
            on_one.low / cores,
            on_one.high / cores,
            format_seconds(on_one.median) + " on one core" + how,
            ""};
}

/// Two bounds that add up to the time: the second is the index for Explanation::second.
void name_both(const Timing& time, Explanation& out) {
    const auto place = [&](const char* id) { return std::ranges::find(out.bounds, id, &Bound::id); };
    const auto execution = place("execution"), access = place("access");
    if (out.limit != Limit::unexplained || access == out.bounds.end()) return;
    const double sum = execution->seconds + access->seconds;
    if (sum < least_with_launch * time.median || time.spread() > widest_spread) return;
    const auto larger = execution->seconds > access->seconds ? execution : access;
    std::rotate(out.bounds.begin(), larger, larger + 1);
    out.limit = Limit::named;
    out.second = static_cast<std::size_t>(
        place(out.bounds.front().id == "execution" ? "access" : "execution") - out.bounds.begin());
}

}  // namespace

void split_on_one_core(const Record& record, const Limits& limits, const OneCoreTimes& times, Explanation& out) {
    const auto& [separate, repeated, threads] = times;
    const double cores = std::max(1.0, parallel_of(record, limits) / threads);
    const double as_long = separate.median / cores / record.time->median;
    if (as_long > like_one_core || as_long < 1 / like_one_core || repeated.median > alike * separate.median)
        return out.leave_out(title, "on one core it takes " + format_significant(as_long, 3) +
                                        " times its part of the time on all cores, and " +
                                        format_significant(repeated.median / separate.median, 3) +
                                        " times that with its data in the nearest caches");
    out.bounds.push_back(on_available_cores(
        of_all_cores("execution", title, "cores", repeated, cores,
                     " with its data in the nearest caches, instead of " + format_seconds(separate.median)),
        record, parallel_of(record, limits)));
    Timing added;
    added.median = separate.median - repeated.median;
    added.low = std::max(0.0, separate.low - repeated.high);
    added.high = separate.high - repeated.low;
    if (added.median >= part_beside_launch * separate.median)
        out.bounds.push_back(on_available_cores(of_all_cores("access", "access to its data", "access", added, cores,
                                                             " more than with its data in the nearest caches"),
                                                record, parallel_of(record, limits)));
    std::ranges::stable_sort(out.bounds, std::greater(), &Bound::seconds);
    decide_limit(record, out);
    name_both(*record.time, out);
}

}  // namespace cllab::explain
