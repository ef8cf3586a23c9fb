#include "explain/one_core.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "core/units.hpp"
#include "explain/limiter.hpp"

namespace cllab::explain {
namespace {

using model::one_core_figure;

bool is_part(const Bound& b) { return b.id == "execution" || b.id == "access" || b.id == "values" || b.id == "shared"; }

/// The time that repeated pages, or repeated contents, save.
Timing difference(const Timing& slow, const Timing& fast) {
    Timing out;
    out.median = std::max(0.0, slow.median - fast.median);
    out.low = std::max(0.0, slow.low - fast.high);
    out.high = std::max(out.median, slow.high - fast.low);
    return out;
}

/// Names the part of the time that repeated contents save. The counts show whether addresses or branches depend on
/// data.
const char* name_of_values(const Record& record) {
    const auto* counts = record.counts ? &*record.counts : nullptr;
    const auto is_scattered = [](const SectorRequests& requests) {
        return requests.sectors.mean > scattered_from * requests.least_sectors.mean;
    };
    const bool chain = waits_for_loads(record),
               scattered = chain || (counts && (is_scattered(counts->reads) || is_scattered(counts->writes)));
    const bool branches = counts && counts->by_data && alike * counts->lanes_active < 1;
    if (scattered == branches) return "addresses or branches that depend on data";
    return chain       ? "latency of a chain of dependent loads"
           : scattered ? "scattered addresses"
                       : "data-dependent branches";
}

/// Names the two largest parts together, if no limiter is named and the two are at least `busy` of the time.
void name_two_parts(const Timing& time, Explanation& out) {
    const auto first = std::ranges::find_if(out.bounds, is_part);
    const auto second = std::find_if(first + 1, out.bounds.end(), is_part);
    if (out.limit != Limit::unexplained || second == out.bounds.end()) return;
    if (first->seconds + second->seconds < busy * time.median || time.spread() > widest_spread) return;
    if (second->seconds < part_beside_launch * time.median) return;
    out.second = static_cast<std::size_t>(second - out.bounds.begin());
    std::rotate(out.bounds.begin(), first, first + 1);
    out.limit = Limit::named;
}

/// How many times as long the work of a core takes while all cores work, as far as two causes explain it: some cores
/// are threads of one core (a virtual machine may hide this), or the clock falls. 1 if memory may be the cause: nearer
/// data saves time on one core, or a level is busy. Also 1 for a ratio that these causes do not explain.
double slowed_by_each_other(double as_long, const OneCoreTimes& times, const Timing& time, const Explanation& out) {
    const auto is_busy = [&](const Bound& b) {
        return is_effect_of("access", b.id) && b.id != "latency" && b.seconds > busy * time.median;
    };
    const bool is_near = times.repeated.median > (1 - part_beside_launch) * times.separate.median;
    if (as_long > 1 || as_long < shared_threads || !is_near || std::ranges::any_of(out.bounds, is_busy)) return 1;
    return 1 / as_long;
}

}  // namespace

void split_on_one_core(const Record& record, const Limits& limits, const OneCoreTimes& times, Explanation& out) {
    const auto& [own, separate, repeated, threads] = times;
    const auto& time = *record.time;
    const double cores = std::max(1.0, parallel_of(record, limits) / threads);
    const double available = available_share(record, parallel_of(record, limits));
    const double as_long = own.median / (available * cores) / time.median;
    constexpr double tolerance = alike * alike;  // each of two times may be off by `alike`
    // A cache may be slow if many addresses are one place of memory. The separate pages then show what execution takes
    // at most, and the split counts if the rest is at least `busy`.
    const bool slow_pages = repeated.median > tolerance * separate.median;
    const auto& nearest = slow_pages ? separate : repeated;
    if (nearest.median > (slow_pages ? 1 - busy : tolerance) * own.median)
        return out.leave_out(execution_title,
                             "it was not split into execution and access to its data, because " +
                                 (slow_pages ? "this processor is slow if many addresses share a page"
                                             : "on one core it takes " + format_seconds(own.median) +
                                                   ", and not less with its data in the nearest caches"));
    if (as_long > like_one_core)
        return out.leave_out(execution_title, concat("one core takes ", format_seconds(own.median),
                                                     " for all of the work, which is more than the time of ",
                                                     format_significant(cores, 3), " cores"));
    const bool idle = available == 1 && time.cores > 0 && time.cores < least_working * cores;
    const double rest = time.median - own.median / cores, atomics = contended_seconds(record, limits);
    const bool is_other = available < 1 || idle || (atomics > 0 && atomics >= worth_saying * rest);
    const double slowed = is_other ? 1 : slowed_by_each_other(as_long, times, time, out);
    const auto add = [&](const char* id, const char* name, const char* brief, const Timing& part, std::string how) {
        if (part.median < part_beside_launch * own.median) return;
        if (slowed > alike)
            how += concat(", ", format_significant(slowed, 3),
                          " times that while all cores work: some are threads of one core, or the clock falls");
        out.bounds.push_back(on_available_cores({id, name, brief, slowed * part.median / cores, part.low / cores,
                                                 slowed * part.high / cores, std::move(how), one_core_figure},
                                                record, parallel_of(record, limits)));
    };
    const auto whole = " of " + format_seconds(own.median) + " on one core";
    add("execution", execution_title, "cores", nearest,
        format_seconds(nearest.median) + whole +
            (slow_pages ? ": at most, if each buffer repeats a few KiB of its data"
                        : ": with its data in the nearest caches"));
    const bool small_pages_cost = separate.median > tolerance * own.median;
    const auto access = difference(small_pages_cost ? own : separate, nearest);
    add("access", "access to its data", "data", access,
        format_seconds(access.median) + whole + ": more than with its data in the nearest caches");
    if (const auto values = difference(own, separate); !small_pages_cost)
        add("values", name_of_values(record), "values", values,
            format_seconds(values.median) + whole +
                ": more than if each buffer repeats a few KiB of its data, so that branches are predicted and "
                "addresses are near");
    if (available == 1 && slowed == 1 && rest >= part_beside_launch * time.median)
        out.bounds.push_back(
            {"shared", idle ? "idle cores" : "what the cores share", "shared", rest,
             std::max(0.0, time.low - own.high / cores), time.high - own.low / cores,
             "more than the time on one core divided by " + format_significant(cores, 3) +
                 (idle ? ": on average, " + format_significant(time.cores, 3) +
                             " cores worked: work-groups take unlike times, or the driver left cores idle"
                       : ": memory and contended lines are shared, the clock falls, or some cores "
                         "are threads of one core"),
             one_core_figure});
    if (!idle) name_contention(record, limits, out);
    std::ranges::stable_sort(out.bounds, std::greater(), &Bound::seconds);
    decide_limit(record, out);
    name_two_parts(time, out);
}

}  // namespace cllab::explain
