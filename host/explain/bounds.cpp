#include "explain/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "core/units.hpp"
#include "inspect/cuda/ncu_counters.hpp"

namespace cllab::explain {
namespace {

std::pair<double, double> interval_of(const Figure& figure) {
    return {figure.low > 0 ? figure.low : figure.value, std::max(figure.high, figure.value)};
}

/// Keeps one bound per resource: the largest that is not simulated, else the largest. `bounds`: largest first.
void keep_largest(std::vector<Bound>& bounds) {
    std::set<std::string> executed;
    for (const auto& b : bounds)
        if (!b.simulated) executed.insert(b.id);
    std::erase_if(bounds, [&](const Bound& b) { return b.simulated && executed.contains(b.id); });
    for (auto i = bounds.begin(); i != bounds.end(); ++i)
        bounds.erase(std::remove_if(i + 1, bounds.end(), [&](const auto& b) { return b.id == i->id; }), bounds.end());
}

const std::vector<std::pair<std::string, std::vector<std::string>>> causes{
    {"pipe", {"arithmetic", "units", "integer", "division", "functions", "local", "l1"}},
    {"issue", {"pipe", "arithmetic", "units", "integer", "division", "functions"}},
    {"l1", {"local", "local_atomics"}},
    {"execution",
     {"issue", "arithmetic", "integer", "division", "functions", "latency", "barriers", "local_atomics", "atomics",
      "l1"}},
    {"access", {"l1", "l2", "l3", "l4", "memory", "lines", "latency"}}};

/// Replaces a general bound by a specific one of the same work that is nearly as large. A simulated specific bound that
/// exceeds the time proves nothing.
void keep_the_cause(std::vector<Bound>& bounds, const Record& record) {
    const auto find = [&](const std::string& id) { return std::ranges::find(bounds, id, &Bound::id); };
    for (const auto& [effect, of] : causes)
        for (const auto& cause : of) {
            const auto general = find(effect), special = find(cause);
            if (general == bounds.end() || special == bounds.end()) continue;
            // Only loads and stores use the LSU pipe.
            if (effect == "pipe" && (cause == "local" || cause == "l1") != (general->brief == "lsu")) continue;
            if (special->seconds < clear_of_the_next * general->seconds) continue;
            if (special->simulated && special->low > alike * record.time->high) continue;
            special->seconds = std::max(special->seconds, general->seconds);
            special->high = std::max(special->high, special->seconds);
            special->how += "; " + general->how;
            bounds.erase(find(effect));
            break;
        }
}

/// If uneven work-groups leave a CPU's cores idle: `bound / average share of working cores`, at most the time. During
/// the launch overhead, cores are idle for another reason, so it counts as worked.
void take_working_cores(const Record& record, const Limits& limits, Explanation& out) {
    const double parallel = parallel_of(record, limits), cores = record.time->cores + record.time->waited;
    if (is_gpu(record) || record.time->cores <= 0 || record.work.groups < limits.units) return;
    if (available_share(record, parallel) < 1) return;  // other processes took cores
    const double launch = out.seconds_of("launch") + out.seconds_of("groups");
    const double worked = cores / parallel + launch / record.time->median;
    if (worked >= 1 / alike || worked < least_working) return;
    static const std::set<std::string> own{"issue",   "arithmetic", "functions",     "division",
                                           "integer", "barriers",   "local_atomics", "latency"};
    for (auto& b : out.bounds) {
        const double times = std::min(1 / worked, record.time->median / std::max(1e-30, b.seconds));
        if (!own.contains(b.id) || times <= 1) continue;
        b.seconds *= times;
        b.high *= times;
        b.how += ", lengthened because uneven work-groups keep only " + format_significant(cores, 3) + " of " +
                 format_exact(parallel) + " cores busy on average";
    }
}

}  // namespace

Explanation bounds_of(const Record& declared, const Limits& limits) {
    Explanation out;
    if (!declared.time) return out;
    const auto record = with_counted_work(declared);
    for (const auto resource : {bound_memory, bound_arithmetic, bound_atomics, bound_launch, bound_latency, bound_local,
                                bound_barriers, bound_issue})
        resource(record, limits, out);
    if (has_counts(record)) take_working_cores(record, limits, out);
    if (record.yardstick && record.yardstick->bandwidth > 0 && !record.work.assumed)
        out.of_copy = record.work.bytes / record.time->median / record.yardstick->bandwidth;
    const auto sort = [&] { std::ranges::stable_sort(out.bounds, std::greater(), &Bound::seconds); };
    sort();
    if (!has_counts(record) && !(has_counters(record) && record.work.assumed)) return out;
    keep_largest(out.bounds);
    if (is_gpu(record)) keep_the_cause(out.bounds, record);
    sort();
    return out;
}

bool is_effect_of(const std::string& effect, const std::string& cause) {
    return std::ranges::any_of(
        causes, [&](const auto& c) { return c.first == effect && std::ranges::count(c.second, cause) > 0; });
}

bool is_gpu(const Record& record) { return record.device.type == name(DeviceType::gpu); }

bool has_counts(const Record& record) { return record.counts && record.work.launches == 1; }

bool has_counters(const Record& record) { return !record.counters.empty() && record.work.launches == 1; }

std::optional<double> counter_of(const Record& record, const std::string& name) {
    return inspect::counter(record.counters, name);
}

double parallel_of(const Record& record, const Limits& limits) {
    return record.work.groups > 0 ? std::min<double>(limits.units, record.work.groups) : limits.units;
}

double uneven_share(const Record& record, const Limits& limits) {
    const double groups = record.work.groups, units = limits.units;
    const double rounds = groups > 0 ? std::ceil(groups / units) * units / groups : 1;
    return rounds > alike ? rounds : 1;
}

double available_share(const Record& record, double parallel) {
    const double share = is_gpu(record) ? 1 : record.time->share_of(parallel);
    return share < 1 / alike ? share : 1;
}

Bound at_rate(const std::string& id, const std::string& name, const std::string& brief, double count,
              const std::string& unit, const Figure& figure) {
    const auto [low, high] = interval_of(figure);
    const auto how =
        format_rate(count, unit) + " at " + format_rate(figure.value, figure.unit) + " (" + figure.title() + ")";
    return {id, name, brief, count / figure.value, count / high, count / low, how, figure.id};
}

Bound at_time(const std::string& id, const std::string& name, const std::string& brief, double count,
              const Figure& figure) {
    const auto [low, high] = interval_of(figure);
    const auto times = count == 1 ? "" : format_significant(count, 3) + " times ";
    const auto how = times + format_seconds(figure.value) + " (" + figure.title() + ")";
    return {id, name, brief, count * figure.value, count * low, count * high, how, figure.id};
}

void add(Bound& bound, const Bound& more) {
    bound.seconds += more.seconds;
    bound.low += more.low;
    bound.high += more.high;
    bound.how += " and " + more.how;
}

void scale(Bound& bound, double times) {
    for (double* seconds : {&bound.seconds, &bound.low, &bound.high}) *seconds *= times;
}

Bound on_available_cores(Bound bound, const Record& record, double parallel, double already) {
    const double share = available_share(record, parallel);
    if (already * share >= 1) return bound;
    scale(bound, 1 / (already * share));
    bound.how += ", on " + format_significant(share * parallel, 3) + " of " + format_exact(parallel) +
                 (parallel > 1 ? " cores" : " core") + ": other processes had the rest";
    return bound;
}

Bound without_nearer(Bound bound, double nearer, double relative_time) {
    bound.low *= 1 - nearer;
    for (double* seconds : {&bound.seconds, &bound.high}) *seconds *= 1 - nearer * (1 - relative_time);
    if (nearer < 0.005) return bound;  // prints as 0 %
    const auto part = format_significant(100 * nearer, 2) + " %";
    bound.how += "; a nearer cache may serve " + part + " of it";
    if (relative_time > 0)
        bound.how += ", each byte in " + format_significant(100 * relative_time, 2) + " % of this level's time";
    return bound;
}

void lower_to_time(Bound& bound, const Record& record) {
    if (bound.seconds <= alike * record.time->high || bound.low > alike * record.time->high) return;
    bound.seconds = bound.low;
    bound.how += ", without the work that the compiler must have removed";
}

void add_asked(const Record& record, Bound bound, Explanation& out) {
    bound.simulated = has_counts(record);
    out.bounds.push_back(std::move(bound));
}

// Work of a launch, extrapolated from the work-groups that the simulator counted.

namespace {

/// Distinct sectors: of the first work-group, of each further one on average, and of all counted ones.
struct Growth {
    double first = 0, further = 0, counted = 0;
    double shared() const { return std::max(0.0, first - further); }
};

Growth growth_of(const Counts& counts, double Footprint::*sectors) {
    if (counts.footprint.empty()) return {};
    const auto &first = counts.footprint.front(), &last = counts.footprint.back();
    Growth out{first.*sectors / std::max(1.0, first.groups), 0, last.*sectors};
    out.further =
        last.groups > first.groups ? (last.*sectors - first.*sectors) / (last.groups - first.groups) : out.first;
    return out;
}

/// Whether the instructions, estimated from assumed bytes, agree with the counts. The bytes must agree. Each written
/// byte must be stored once, and the kernel must not store to private memory. The instructions must suffice for half of
/// the counted operations, because compilers remove address arithmetic.
bool passes_add_up(const Record& record, const Counts& counts, const Traffic& touched) {
    const auto is_near = [](double a, double b) { return std::abs(a - b) <= once_within * b; };
    if (!is_near(touched.bytes(), record.work.bytes)) return false;
    if (!is_near(per_launch(counts, counts.global.store_bytes), touched.written)) return false;
    if (per_launch(counts, counts.private_memory.stores) > 0) return false;
    return 2 * record.work.instructions * items_at_a_time(record) >= counts.items * all_operations(counts);
}

WorkInfo work_of_counts(const Record& record, const Counts& counts) {
    auto out = record.work;
    const auto touched = distinct(counts, record.work);
    if (out.assumed && !passes_add_up(record, counts, touched)) out.instructions = 0;
    if (touched.bytes() > 0 && (out.bytes <= 0 || out.assumed)) {
        out.bytes = touched.bytes();
        out.read = touched.read;
        out.footprint = touched.bytes();
        out.assumed = false;
    }
    const double shared = sector_bytes * growth_of(counts, &Footprint::sectors).shared();
    out.shared = shared >= nearly_all_shared * touched.bytes() && counts.groups > 1;
    if (out.atomics <= 0) {
        out.atomics = per_launch(counts, counts.global_atomics.number);
        const double counted = counts.counted_items * counts.global_atomics.number.mean;
        const bool spread = counts.global_atomics.addresses > meet_below * counted;
        out.atomic_addresses =
            counts.global_atomics.addresses * (spread ? counts.groups / std::max(1.0, counts.counted_groups) : 1);
    }
    if (out.local_atomics <= 0) {
        out.local_atomics = per_launch(counts, counts.local_atomics.number);
        out.local_addresses = counts.local_atomics.addresses;  // of the work-group with the most addresses
    }
    if (out.barriers <= 0) out.barriers = counts.barriers.mean;
    return out;
}

}  // namespace

std::string source_of(const Counts& counts) {
    const auto groups = counts.counted_groups >= counts.groups
                            ? "all " + format_exact(counts.groups) + " groups"
                            : format_exact(counts.counted_groups) + " of " + format_exact(counts.groups) + " groups";
    return "counted by simulation of " + groups;
}

Traffic distinct(const Counts& counts, const WorkInfo& work) {
    const auto of = [&](double Footprint::*sectors, double most) {
        const auto growth = growth_of(counts, sectors);
        const double further = std::max(0.0, counts.groups - counts.counted_groups);
        const double all = sector_bytes * (growth.counted + further * growth.further);
        // The last sector may extend beyond its buffer.
        return most > 0 ? std::min(all, most) : all;
    };
    const bool by_use = work.assumed && work.read;
    return {of(&Footprint::read_sectors, by_use ? *work.read : work.footprint),
            of(&Footprint::written_sectors, by_use ? work.bytes - *work.read : work.footprint)};
}

Traffic beyond(const Counts& counts, double holds, double instances) {
    const auto of = [&](double Footprint::*sectors) {
        const auto growth = growth_of(counts, sectors);
        const double shared = sector_bytes * growth.shared(), own = sector_bytes * growth.further;
        const double times = shared <= holds ? std::min(instances, counts.groups) : counts.groups;
        return times * shared + counts.groups * own;
    };
    return {of(&Footprint::read_sectors), of(&Footprint::written_sectors)};
}

Record with_counted_work(Record record) {
    if (has_counts(record)) record.work = work_of_counts(record, *record.counts);
    return record;
}

}  // namespace cllab::explain
