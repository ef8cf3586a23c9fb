#include "explain/amounts.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/units.hpp"
#include "explain/limiter.hpp"
#include "inspect/cuda/ncu_counters.hpp"

namespace cllab::explain {
namespace {

using inspect::counter;

constexpr const char* counted = ", counted by ncu";

std::pair<double, double> interval_of(const Figure& figure) {
    return {figure.low > 0 ? figure.low : figure.value, std::max(figure.high, figure.value)};
}

/// The busiest pipe of the units: the profiler knows the most that it takes in a cycle, and says what part of that it
/// took.
void bound_pipe(const Record& record, Explanation& out) {
    constexpr std::string_view begin = "sm__inst_executed_pipe_", end = ".avg.pct_of_peak_sustained_active";
    const Counter* busiest = nullptr;
    for (const auto& c : record.counters)
        if (c.name.starts_with(begin) && c.name.ends_with(end) && (!busiest || c.value > busiest->value)) busiest = &c;
    if (!busiest) return out.leave_out("pipes of the units", "how busy they are was not counted");
    const auto pipe = busiest->name.substr(begin.size(), busiest->name.size() - begin.size() - end.size());
    const auto duration = counter(record.counters, "gpu__time_duration.sum");
    const double seconds = std::clamp(busiest->value / 100, 0.0, 1.0) *
                           std::min(duration.value_or(record.time->median), record.time->median);
    out.bounds.push_back({"pipe", "instructions of pipe " + pipe, pipe, seconds, seconds, seconds,
                          format_significant(busiest->value, 3) + " % of what that pipe can take" + counted,
                          busiest->name});
}

/// Shares of what each level can take, as the profiler says them. It begins with empty caches, so that what it says of
/// memory is true only of data that no level holds.
void bound_shares(const Record& record, const Limits& limits, Explanation& out) {
    const auto share = [&](const char* id, const std::string& name, const char* metric) {
        const auto percent = counter(record.counters, metric),
                   duration = counter(record.counters, "gpu__time_duration.sum");
        if (!percent || !duration) return;
        const double seconds = std::min(std::clamp(*percent / 100, 0.0, 1.0) * *duration, record.time->median);
        out.bounds.push_back({id, name + " bandwidth", name, seconds, seconds, seconds,
                              format_significant(*percent, 3) + " % of what it can take" + counted, metric});
    };
    const auto sizes = sizes_of(limits, "bandwidth", Capacity::most);
    const auto place = place_of(record, limits, sizes, 1, Capacity::most);
    if (place && place->memory) share("memory", "memory", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed");
    share("l2", "L2", "lts__throughput.avg.pct_of_peak_sustained_elapsed");
    share("l1", "L1", "l1tex__throughput.avg.pct_of_peak_sustained_active");
}

/// Executed instructions at the rate at which a warp's multiply-adds were seen to be issued.
void bound_issue(const Record& record, const Limits& limits, Explanation& out) {
    const auto executed = counter(record.counters, "smsp__inst_executed.sum");
    const auto *peak = limits.find("fma.peak.float"), *width = limits.find("divergence.width.full");
    if (!executed) return out.leave_out("instruction issue", "the executed instructions were not counted");
    if (!peak || !width)
        return out.leave_out("instruction issue",
                             std::string("the profile has no ") + (peak ? "SIMT width" : "float peak"));
    const double rate = peak->value / (2 * width->value);
    const double seconds = *executed / rate;
    // Where multiply-adds cannot use every slot, other instructions are issued up to twice as fast.
    out.bounds.push_back({"issue", "instruction issue", "issue", seconds, seconds / 2, seconds,
                          format_significant(*executed, 4) + " warp instructions" + counted + ", at " +
                              format_rate(rate, "instr/s") + " (" + peak->title() + ")",
                          peak->id});
}

}  // namespace

std::string level_id(std::size_t level) { return concat("l", level + 1); }
std::string level_name(std::size_t level) { return concat("L", level + 1); }

bool is_gpu(const Record& record) { return record.device.type == name(DeviceType::gpu); }

double parallel_of(const Record& record, const Limits& limits) {
    return record.work.groups > 0 ? std::min<double>(limits.units, record.work.groups) : limits.units;
}

double uneven_share(const Record& record, const Limits& limits) {
    const double groups = record.work.groups, units = limits.units;
    if (groups <= 0) return 1;
    const double rounds = std::ceil(groups / units) * units / groups;
    return rounds > alike ? rounds : 1;
}

std::vector<double> sizes_of(const Limits& limits, const std::string& family, Capacity capacity) {
    std::vector<double> out;
    if (limits.caches.empty()) {
        while (const auto* size = limits.find(family + "." + level_id(out.size()) + ".size")) {
            const double least = size->low > 0 ? std::min(size->value, size->low) : size->value;
            out.push_back(capacity == Capacity::most ? std::max(size->value, size->high) : least / 2);
        }
        // A level behind them that was seen, but not where it ends: what does not fit in those before it is at least as
        // far away.
        if (!out.empty() &&
            limits.find(family + "." + level_id(out.size()) + (family == "latency" ? ".latency" : ".rate")))
            out.push_back(0);
    } else {
        out.assign(limits.caches.begin(), limits.caches.end());
        if (capacity == Capacity::least)
            for (auto& size : out) size /= 2;
    }
    return out;
}

std::optional<Place> place_of(const Record& record, const Limits& limits, std::vector<double> sizes, double instances,
                              Capacity capacity) {
    if (record.time->cache == "cold" || record.time->cache == "rotate") return Place{sizes.size(), true, 0};
    const double last = static_cast<double>(std::max(limits.last_level_bytes, record.device.last_level_bytes));
    if (sizes.empty() && last > 0) sizes.push_back(capacity == Capacity::most ? last : last / 2);
    if (sizes.empty()) return std::nullopt;
    if (capacity == Capacity::most || sizes.back() == 0)
        sizes.back() = std::max(sizes.back(), capacity == Capacity::most ? last : last / 2);
    if (record.work.shared || capacity == Capacity::least) instances = 1;
    const bool only_first = is_gpu(record) && record.device.platform == "NVIDIA CUDA";
    double before = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const auto nearer = [&] {
            return capacity == Capacity::most ? before / std::max(1.0, record.work.footprint) : 0;
        };
        const bool has_instances = i + 1 < sizes.size() && (i == 0 || !only_first);
        const double holds = sizes[i] * (has_instances ? instances : 1);
        if (record.work.footprint <= holds) return Place{i, false, nearer()};
        before = std::max(before, holds);
    }
    return Place{sizes.size(), true, capacity == Capacity::most ? before / record.work.footprint : 0};
}

std::optional<Place> far_place(const Record& record, const Limits& limits) {
    const auto out = place_of(record, limits, sizes_of(limits, "bandwidth", Capacity::least), 1, Capacity::least);
    return out && (out->memory || out->level >= 2) ? out : std::nullopt;
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

Bound bound_of_issue(const Record& record, const Limits& limits, double instructions, const Figure& rate,
                     const std::string& how) {
    auto bound = at_rate("issue", "instruction issue", "issue", instructions, "instr", rate);
    bound.how += how;
    // A compare and the branch behind it are one to a processor, and some moves none: of a loop of five instructions,
    // the shortest that computes, at least one.
    constexpr double fused = 0.8;
    bound.low *= fused;
    const double groups = record.work.groups;
    if (groups > 0 && groups < limits.units) {
        scale(bound, limits.units / groups);
        bound.how += ", on " + format_exact(groups) + " of " + std::to_string(limits.units) + " cores";
        // The probe's threads may share cores, two each, which threads of few groups have for themselves.
        bound.low /= 2;
    }
    return on_available_cores(std::move(bound), record, parallel_of(record, limits));
}

bool nobody_declared(const Record& record) { return record.counts || record.work.assumed; }

bool are_counted(const Record& record) { return !record.counters.empty() && record.work.launches == 1; }

bool bound_counted_memory(const Record& record, const Figure* stream, Explanation& out) {
    if (!are_counted(record)) return false;
    const auto read = counter(record.counters, "dram__bytes_read.sum"),
               written = counter(record.counters, "dram__bytes_write.sum");
    if (!read || !written) return false;
    if (!stream) return out.leave_out("memory traffic", "the profile has no memory bandwidth"), true;
    auto bound = at_rate("memory", "memory bandwidth", "memory", *read + *written, "B", *stream);
    bound.how += counted;
    out.bounds.push_back(std::move(bound));
    return true;
}

void bound_counted(const Record& record, const Limits& limits, Explanation& out) {
    if (!are_counted(record)) {
        std::string why = "executed instructions are not counted";
        const std::string from =
            std::string("from sampled addresses and ") + (record.counts ? "counted" : "declared") + " bytes";
        if (record.work.instructions > 0 && record.counters.empty()) {
            if (const auto* rate = limits.find("issue.rate")) {
                out.bounds.push_back(bound_of_issue(record, limits, record.work.instructions, *rate, ", " + from));
                out.bounds.back().simulated = record.counts != nullptr;  // each byte once is not known
                return;
            }
            why = format_significant(record.work.instructions, 3) + " are executed (" + from +
                  "); the profile has no peak for them";
        }
        if (!record.counters.empty())
            why = "the counters cover one launch, and the time covers one step or several launches";
        out.leave_out("instruction issue", why);
        return;
    }
    // The amount that was counted at the rate of a figure, where the profile has that.
    const auto add_rate = [&](const char* id, const char* name, const char* brief, double bytes, const Figure& rate,
                              const std::string& counts) {
        auto bound = at_rate(id, name, brief, bytes, "B", rate);
        bound.how = counts.empty() ? bound.how + counted : counts + counted + ", " + bound.how;
        out.bounds.push_back(std::move(bound));
    };
    if (const auto sectors = counter(record.counters, "lts__t_sectors_op_read.sum")) {
        if (const auto* rate = limits.find("bandwidth.l2.rate"))
            add_rate("l2", "L2 bandwidth", "L2", sector_bytes * *sectors, *rate, "");
        else
            out.leave_out("L2 traffic", "the profile has no bandwidth of L2");
    }
    // A wavefront is a pass through the banks: lanes that meet in one take more of them.
    if (const auto passes = counter(record.counters, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum");
        passes && *passes > 0) {
        const auto *rate = limits.find("banks.rate"), *banks = limits.find("banks.banks.4"),
                   *width = limits.find("banks.width.4");
        if (rate && banks && width)
            add_rate("local", "local memory bandwidth", "local", banks->value * width->value * *passes, *rate,
                     format_significant(*passes, 4) + " passes through the banks");
        else
            out.leave_out("local memory", "the profile lacks its bandwidth or its banks");
    }
    if (nobody_declared(record)) bound_shares(record, limits, out);
    bound_pipe(record, out);
    bound_issue(record, limits, out);
}

double available_share(const Record& record, double parallel) {
    const double share = is_gpu(record) ? 1 : record.time->share_of(parallel);
    return share < 1 / alike ? share : 1;
}

Bound on_available_cores(Bound bound, const Record& record, double parallel, double already) {
    const double share = available_share(record, parallel);
    if (already * share >= 1) return bound;
    scale(bound, 1 / (already * share));
    bound.how += ", on " + format_significant(share * parallel, 3) + " of " + format_exact(parallel) +
                 (parallel > 1 ? " cores" : " core") + ": others had the rest";
    return bound;
}

}  // namespace cllab::explain
