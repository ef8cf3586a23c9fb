// Memory traffic: `bound = bytes / rate`, at the rate of the level that holds the cell's data.
#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "core/units.hpp"
#include "explain/bounds.hpp"

namespace cllab::explain {
namespace {

/// Bytes that one cache of each level holds, from the operating system or else from the figures of `family`. A final 0:
/// a further level of unknown size.
std::vector<double> sizes_of(const Limits& limits, const std::string& family) {
    if (!limits.caches.empty()) return {limits.caches.begin(), limits.caches.end()};
    std::vector<double> out;
    while (const auto* size = limits.find(family + "." + level_id(out.size()) + ".size"))
        out.push_back(std::max(size->value, size->high));
    // Larger data is at least as far away as the next level that the profile saw.
    const char* seen = family == "latency" ? ".latency" : ".rate";
    if (!out.empty() && limits.find(family + "." + level_id(out.size()) + seen)) out.push_back(0);
    return out;
}

/// Whether data of twice the cell's size would be in L3, a farther level, or memory.
bool lies_far(const Record& record, const Limits& limits) {
    auto twice = record;
    twice.work.footprint *= 2;
    const auto place = place_of(twice, limits, "bandwidth", 1);
    return place && (place->memory || place->level >= 2);
}

/// The fastest stream with the cell's ratio of reads to writes, or else the fastest of all.
const Figure* stream_like(const Record& record, const Limits& limits) {
    using Names = std::vector<const char*>;
    const auto fastest = [&](const Names& ids) {
        const Figure* out = nullptr;
        for (const auto* id : ids)
            if (const auto* f = limits.find(std::string("bandwidth.") + id); f && (!out || f->value > out->value))
                out = f;
        return out;
    };
    static const std::pair<double, Names> streams[]{
        {1, {"read", "memory.rate"}}, {0, {"write"}}, {1.0 / 2, {"copy", "batch"}}, {2.0 / 3, {"triad"}}};
    if (record.work.read && record.work.bytes > 0)
        for (const auto& [read, ids] : streams)
            if (std::abs(*record.work.read / record.work.bytes - read) < same_proportion)
                if (const auto* like = fastest(ids)) return like;
    return fastest({"copy", "batch", "read", "write", "triad", "memory.rate"});
}

/// For data that fits a cache: `bytes read / the level's read rate`.
void bound_cache(const Record& record, const Limits& limits, const Place& place, Explanation& out) {
    const auto& work = record.work;
    const auto name = level_name(place.level), id = level_id(place.level);
    const auto levels = levels_of(limits, "bandwidth");
    const auto* rate = limits.find("bandwidth." + id + ".rate");
    if (!rate) return out.lacks("memory traffic", "bandwidth of " + name, "bandwidth." + id + ".rate");
    // A level is at least as fast as the levels behind it. If its figure is slower, the figure was disturbed.
    for (std::size_t behind = place.level + 1; behind <= levels; ++behind) {
        const auto* other =
            limits.find(behind == levels ? "bandwidth.read" : "bandwidth." + level_id(behind) + ".rate");
        if (other && other->value > rate->value) rate = other;
    }
    auto bound = at_rate(id, name + " bandwidth", name, *work.read, "B", *rate);
    // A cell that reads as much as it writes is bounded like a copy within that level.
    const auto* copy = limits.find("bandwidth." + id + ".copy");
    if (copy && std::abs(*work.read / work.bytes - 0.5) < same_proportion)
        if (auto both = at_rate(id, name + " bandwidth", name, work.bytes, "B", *copy); both.seconds > bound.seconds)
            bound = std::move(both);
    // Not for the last level: all cores share it, and one core may use the rate of all.
    if (place.level + 1 < levels) bound = on_available_cores(std::move(bound), record, parallel_of(record, limits));
    // If every core reads all data, the hits in the nearer level take time, too.
    const auto* nearer = place.level > 0 && work.shared && !is_gpu(record)
                             ? limits.find("bandwidth." + level_id(place.level - 1) + ".rate")
                             : nullptr;
    const double relative_time = nearer ? std::min(1.0, rate->value / nearer->value) : 0;
    out.bounds.push_back(without_nearer(std::move(bound), place.nearer, relative_time));
}

/// Share of the declared bytes that the launch moves for the first time. These are at most the size of the buffers, or
/// twice that for buffers that it reads and writes. 1 if the launch does not request all of the declared bytes.
double share_of_first(const Counts& counts, const model::WorkInfo& work) {
    const auto all = counts.footprint.empty() ? model::Footprint{} : counts.footprint.back();
    const double asked = per_launch(counts, counts.global.load_bytes) + per_launch(counts, counts.global.store_bytes);
    if (all.sectors <= 0 || asked * alike < work.bytes) return 1;
    const double times = (all.read_sectors + all.written_sectors) / all.sectors;
    return std::min({1.0, distinct(counts, work).bytes() / work.bytes, times * work.footprint / work.bytes});
}

/// Bounds the declared bytes, else the counted distinct bytes, else one use of every buffer.
void bound_bytes(const Record& record, const Limits& limits, Explanation& out) {
    const auto& work = record.work;
    const auto leave_out = [&](const std::string& why) { out.leave_out("memory traffic", why); };
    if (work.bytes <= 0) return leave_out("no bytes are declared");
    auto place = place_of(record, limits, "bandwidth", limits.units);
    // 0.99: the buffers of the streams are rounded to whole elements.
    if (const auto* streamed = limits.find("bandwidth.streamed"); streamed && work.footprint >= 0.99 * streamed->value)
        place = Place{levels_of(limits, "bandwidth"), true, 0};
    if (!place) return out.lacks("memory traffic", "cache sizes");
    const auto before = out.bounds.size();
    if (place->memory) {
        const auto* stream = stream_like(record, limits);
        if (!stream) return out.lacks("memory traffic", "memory bandwidth");
        const auto all = at_rate("memory", "memory bandwidth", "memory", work.bytes, "B", *stream);
        auto bound = without_nearer(all, place->nearer);
        // If memory would take longer than the measured time, caches served the bytes that the launch moves again.
        if (has_counts(record) && bound.seconds > record.time->median)
            bound = without_nearer(all, 1 - (1 - place->nearer) * share_of_first(*record.counts, work));
        out.bounds.push_back(std::move(bound));
    } else if (!work.read) {
        return leave_out("the kernel's buffers may fit a cache, and the number of bytes read is not known");
    } else if (*work.read <= 0) {
        return leave_out("the kernel's buffers may fit a cache, and the kernel reads nothing");
    } else {
        bound_cache(record, limits, *place, out);
    }
    if (!work.assumed || out.bounds.size() == before) return;
    out.bounds.back().how += ", if every buffer moves once";
    out.bounds.back().simulated = true;  // the kernel may touch only a part of them
}

/// GPU: `sectors / rate of scattered sectors`, for accesses that touch more sectors than their bytes fill.
void bound_scattered(const char* what, double sectors, const SectorRequests& requests, const Record& record,
                     const Limits& limits, Explanation& out) {
    const bool is_scattered =
        requests.sectors.mean > scattered_from * requests.least_sectors.mean && requests.requests.mean > 0;
    const auto* rate = limits.find(std::string("scatter.") + what + ".rate");
    if (!rate || !is_scattered || sectors <= 0) return;
    auto bound = at_rate("l2", "L2, partial sectors", "L2 sectors", sectors, "sector", *rate);
    bound.how += ", " + format_significant(sector_bytes * requests.sectors.mean, 3) +
                 " bytes per work-item instead of " +
                 format_significant(sector_bytes * requests.least_sectors.mean, 3) + ", " + source_of(*record.counts);
    add_asked(record, std::move(bound), out);
}

/// Minimum and maximum number of touched lines per touched sector. `bytes`: size of a line. The counts are for lines of
/// 128 bytes; a launch may touch only a part of such a line.
std::pair<double, double> lines_per_sector(const Counts& counts, double bytes) {
    const auto& all = counts.footprint.back();
    const double counted = all.lines / all.sectors, halves = 128 / bytes;
    const double least = std::max(sector_bytes / bytes, counted * std::min(1.0, halves));
    return {least, std::clamp(counted * std::max(1.0, halves), least, 1.0)};
}

/// CPU: scattered reads. A core fetches whole cache lines from the level that holds the data.
void bound_lines(const Record& record, const Limits& limits, const std::vector<double>& sizes, Explanation& out) {
    const auto& counts = *record.counts;
    const auto place = place_of(record, limits, "bandwidth", limits.units);
    if (counts.reads.sectors.mean <= scattered_from * counts.reads.least_sectors.mean || !place) return;
    if (place->level == 0 || place->level > sizes.size()) return;
    const auto figure = place->memory ? "bandwidth.read" : "bandwidth." + level_id(place->level) + ".rate";
    const auto* rate = limits.find(figure);
    const auto name = "bandwidth of " + (place->memory ? "memory" : level_name(place->level));
    if (!rate) return out.lacks("scattered reads", name, figure);
    const double sectors = beyond(counts, sizes[place->level - 1], limits.units).read / sector_bytes;
    if (sectors <= 0) return;
    const auto* line = limits.find("cacheline.line");
    const double bytes = line ? line->value : line_bytes;
    const auto [least, most] = lines_per_sector(counts, bytes);
    const double lines = most * sectors;
    auto bound = at_rate("lines", "scattered reads", "scattered", lines * bytes, "B", *rate);
    bound.low *= least / most;
    bound.how = format_rate(lines, "cache lines") + ", " + bound.how + ", " + source_of(counts);
    if (place->level + 1 < sizes.size())  // as in bound_cache(): one core may use all of the last level
        bound = on_available_cores(std::move(bound), record, parallel_of(record, limits));
    add_asked(record, without_nearer(std::move(bound), place->nearer), out);
}

/// Bounds the traffic of L1 and L2, and scattered accesses, by counted amounts.
void bound_levels(const Record& record, const Limits& limits, Explanation& out) {
    const auto& counts = *record.counts;
    const auto level = [&](std::size_t i, double bytes) -> std::optional<Bound> {
        const auto* rate = limits.find("bandwidth." + level_id(i) + ".rate");
        if (!rate || bytes <= 0) return std::nullopt;
        const auto name = level_name(i);
        auto bound = at_rate(level_id(i), name + " bandwidth", name, bytes, "B", *rate);
        bound.how += ", " + source_of(counts);
        return on_available_cores(std::move(bound), record, parallel_of(record, limits));
    };
    // Waves request whole sectors from L1.
    const double asked = sector_bytes * counts.items * counts.reads.sectors.mean;
    if (auto first = is_gpu(record) ? level(0, asked * uneven_share(record, limits)) : std::nullopt) {
        // Only the first load of a sector is certain: compilers keep values in registers.
        first->low *= std::min(1.0, distinct(counts, record.work).read / asked);
        lower_to_time(*first, record);
        add_asked(record, *std::move(first), out);
    }
    const auto sizes = sizes_of(limits, "bandwidth");
    const double holds = sizes.empty() ? 0 : sizes.front();
    if (!(holds > 0) || record.work.footprint <= holds) return;
    const double passing = beyond(counts, holds, limits.units).read;
    // If only one level of a CPU is known, data that misses it may come from beyond L2.
    if (auto second = is_gpu(record) || sizes.size() > 1 ? level(1, passing) : std::nullopt)
        add_asked(record, *std::move(second), out);
    if (!is_gpu(record)) return bound_lines(record, limits, sizes, out);
    const double written = counts.items * counts.writes.sectors.mean;  // L1 does not combine stores of different waves
    bound_scattered("store", written, counts.writes, record, limits, out);
    bound_scattered("load", std::min(passing / sector_bytes, counts.items * counts.reads.sectors.mean), counts.reads,
                    record, limits, out);
}

/// Bounds the bytes of memory that the profiler counted. Returns false if it counted none.
bool bound_counted_bytes(const Record& record, const Limits& limits, Explanation& out) {
    if (!has_counters(record)) return false;
    const auto read = counter_of(record, "dram__bytes_read.sum"), written = counter_of(record, "dram__bytes_write.sum");
    if (!read || !written) return false;
    const auto* stream = stream_like(record, limits);
    if (!stream) return out.lacks("memory traffic", "memory bandwidth"), true;
    out.bounds.push_back(at_rate("memory", "memory bandwidth", "memory", *read + *written, "B", *stream));
    out.bounds.back().how += by_ncu;
    return true;
}

/// Bounds L2 reads by the profiler's counters. If the simulator counted the cell, or its bytes are assumed, the
/// profiler's utilization also bounds L1, L2, and memory. The profiler starts with empty caches, so memory has this
/// bound only if no cache holds the data.
void bound_counted_levels(const Record& record, const Limits& limits, Explanation& out) {
    if (const auto sectors = counter_of(record, "lts__t_sectors_op_read.sum")) {
        if (const auto* rate = limits.find("bandwidth.l2.rate")) {
            out.bounds.push_back(at_rate("l2", "L2 bandwidth", "L2", sector_bytes * *sectors, "B", *rate));
            out.bounds.back().how += by_ncu;
        } else {
            out.lacks("L2 traffic", "bandwidth of L2");
        }
    }
    if (!record.counts && !record.work.assumed) return;
    const auto share = [&](const char* id, const std::string& name, const char* metric) {
        const auto percent = counter_of(record, metric), duration = counter_of(record, "gpu__time_duration.sum");
        if (!percent || !duration) return;
        const double seconds = std::min(std::clamp(*percent / 100, 0.0, 1.0) * *duration, record.time->median);
        out.bounds.push_back({id, name + " bandwidth", name, seconds, seconds, seconds,
                              format_significant(*percent, 3) + " % of its peak" + by_ncu, metric});
    };
    const auto place = place_of(record, limits, "bandwidth", 1);
    if (place && place->memory) share("memory", "memory", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed");
    share("l2", "L2", "lts__throughput.avg.pct_of_peak_sustained_elapsed");
    share("l1", "L1", "l1tex__throughput.avg.pct_of_peak_sustained_active");
}

}  // namespace

std::string level_id(std::size_t level) { return concat("l", level + 1); }
std::string level_name(std::size_t level) { return concat("L", level + 1); }

std::size_t levels_of(const Limits& limits, const std::string& family) { return sizes_of(limits, family).size(); }

std::optional<Place> place_of(const Record& record, const Limits& limits, const std::string& family, double instances) {
    auto sizes = sizes_of(limits, family);
    if (record.time->cache == "cold" || record.time->cache == "rotate") return Place{sizes.size(), true, 0};
    const double last = static_cast<double>(std::max(limits.last_level_bytes, record.device.last_level_bytes));
    if (sizes.empty() && last > 0) sizes.push_back(last);
    if (sizes.empty()) return std::nullopt;
    sizes.back() = std::max(sizes.back(), last);
    if (record.work.shared) instances = 1;
    const bool only_first = is_gpu(record) && record.device.platform == "NVIDIA CUDA";
    const double footprint = record.work.footprint;
    double before = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const bool has_instances = i + 1 < sizes.size() && (i == 0 || !only_first);
        const double holds = sizes[i] * (has_instances ? instances : 1);
        if (footprint <= holds) return Place{i, false, before / std::max(1.0, footprint)};
        before = std::max(before, holds);
    }
    return Place{sizes.size(), true, before / footprint};
}

void bound_memory(const Record& record, const Limits& limits, Explanation& out) {
    if (!bound_counted_bytes(record, limits, out)) bound_bytes(record, limits, out);
    if (has_counts(record)) {
        if (const auto* stream = stream_like(record, limits); stream && !is_gpu(record) && lies_far(record, limits))
            out.uncached = record.work.bytes / stream->value;
        bound_levels(record, limits, out);
    }
    if (has_counters(record)) bound_counted_levels(record, limits, out);
}

}  // namespace cllab::explain
