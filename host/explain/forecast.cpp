#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "core/text.hpp"
#include "core/units.hpp"
#include "explain/amounts.hpp"
#include "explain/limiter.hpp"

namespace cllab::explain {
namespace {

/// A peak is no faster than the fast end of its interval, and no shorter than the short one.
Limits fastest(Limits limits) {
    for (auto& f : limits.figures) {
        if (f.unit.ends_with("/s")) f.value = std::max(f.high, f.value);
        if (f.unit == "s" && f.low > 0) f.value = std::min(f.low, f.value);
        if (f.unit.ends_with("/s") || f.unit == "s") f.low = f.high = f.value;
    }
    return limits;
}

bool is_sure(const Bound& bound) {
    static const std::set<std::string> removable{"arithmetic", "units",    "integer", "functions",
                                                 "division",   "products", "local",   "latency"};
    // A compiler may join the stores of a work-item to one that fills a sector.
    return !removable.count(bound.id) && !bound.figure.starts_with("scatter.");
}

/// Groups that run together share what one of them brought into the first level, and neighbours share a sector that
/// groups far apart do not: of a bound that has each of them read it, what must be read once.
double read_once(const Record& record, const Limits& limits) {
    const auto sizes = sizes_of(limits, "bandwidth", Capacity::most);
    if (sizes.empty()) return 1;
    const double each = beyond(*record.counts, sizes.front(), limits.units).read,
                 once = std::min(beyond(*record.counts, INFINITY, 1).read, distinct(*record.counts, record.work).read);
    return each > 0 ? std::min(1.0, once / each) : 1;
}

/// What is declared is no count, and the compiler's code is not known.
WorkInfo undeclared(const WorkInfo& work) {
    WorkInfo out;
    out.footprint = work.footprint;
    out.launches = work.launches;
    out.groups = work.groups;
    out.group = work.group;
    out.type = work.type;
    out.assumed = work.assumed;
    if (work.assumed) out.bytes = work.bytes, out.read = work.read;
    return out;
}

/// How much longer arithmetic takes a CPU whose compiler makes no vectors of work-items; 1 where that is not known.
double without_vectors(const Bound& bound, const Record& record, const Limits& limits) {
    const auto *wide = limits.find(bound.figure), *narrow = limits.find(bound.figure + ".128");
    if (is_gpu(record) || !bound.figure.starts_with("fma.peak.") || !wide || !narrow) return 1;
    return wide->value / narrow->value * (bound.figure == "fma.peak.double" ? 2 : 4);
}

/// Its seconds are the least, and it says what part of what it counts that is.
void make_least(Bound& bound, const Record& record, const Limits& limits) {
    const double seconds = bound.seconds;
    bound.simulated = !is_sure(bound);
    // What a compiler joins of a chain is written all the same.
    if (bound.id == "latency" && bound.figure.starts_with("fma.")) bound.low = seconds;
    if (bound.id == "l2" && !bound.simulated) bound.low *= read_once(record, limits);
    // Cores that share an address wait for each other, and one that has it alone does not.
    if (const auto* alone = limits.find("atomic.global.many"); bound.id == "atomics" && !is_gpu(record) && alone)
        bound.low =
            std::min(bound.low, per_launch(*record.counts, record.counts->global_atomics.number) / alone->value);
    if (bound.how.find("counted by") == std::string::npos && bound.id != "launch" && bound.id != "groups")
        bound.how += ", " + source_of(*record.counts);
    if (bound.low < seconds / alike)
        bound.how += ", of which " + format_significant(100 * bound.low / seconds, 2) + " % at the least";
    if (const double times = without_vectors(bound, record, limits); times > alike)
        bound.how += "; without vectors " + format_significant(times, 2) + " times as long";
    bound.seconds = bound.high = bound.low;
}

}  // namespace

Counts least_of(const Counts& counts, const WorkInfo& work) {
    auto out = counts;
    if (counts.counted_groups >= counts.groups || counts.footprint.empty()) return out;
    const double seen = counts.counted_groups / counts.groups;
    const auto part = [&](const Amount& a) {
        return a.mean > 0 ? seen + (1 - seen) * std::min(1.0, a.low / a.mean) : 1;
    };
    const auto lower = [&](Amount& a) { a.mean *= part(a); };
    for (auto& o : out.operations) lower(o.per_item);
    for (auto* a : {&out.global_atomics.number, &out.barriers, &out.local_atomics.number, &out.local_reads.ways,
                    &out.local_writes.ways})
        lower(*a);
    // Random accesses to N sectors come to N (1 - exp(-x / N)) of them.
    const auto touched = [&](double Footprint::*sectors, const SectorRequests& requests, double share) {
        const bool reads = sectors == &Footprint::read_sectors;
        const auto all = distinct(counts, {.footprint = 1e300});
        const double x = (reads ? all.read : all.written) * share, buffers = work.footprint;
        double factor = share;
        if (requests.sectors.mean > 1.5 * requests.least_sectors.mean && buffers > 0 && x > 0)
            factor *= buffers * (1 - std::exp(-x / buffers)) / x;
        for (auto& f : out.footprint) f.*sectors *= factor;
    };
    touched(&Footprint::read_sectors, counts.reads, part(counts.global.load_bytes));
    touched(&Footprint::written_sectors, counts.writes, part(counts.global.store_bytes));
    // Groups that do not meet on an address each have addresses of their own.
    auto& atomics = out.global_atomics;
    if (atomics.most_on_address <= atomics.most_in_group) atomics.addresses /= seen;
    return out;
}

Explanation forecast(Record record, const Limits& profile) {
    const auto limits = fastest(profile);
    record.work = undeclared(record.work);
    record.counts = std::make_shared<const Counts>(least_of(*record.counts, record.work));
    record.time.emplace();
    auto out = bounds_of(record, limits);
    out.missing.clear();
    for (auto& bound : out.bounds) make_least(bound, record, limits);
    // Without it the nearest load is that of a farther level.
    if (!limits.find("latency.l1.latency") && std::erase_if(out.bounds, [](auto& b) { return b.id == "latency"; }) > 0)
        out.leave_out("latency", "the profile has no L1 latency");
    std::erase_if(out.bounds, [](const Bound& b) { return !(b.seconds > 0); });
    std::ranges::stable_sort(out.bounds, std::greater(), &Bound::seconds);
    for (const auto& [what, why] : record.counts->not_counted) out.leave_out(what, why);
    out.leave_out("instruction issue", "the code that a compiler makes there is not known");
    return out;
}

}  // namespace cllab::explain
