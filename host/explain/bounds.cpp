// The bounds that explain/limiter.hpp is about, one function a resource.
#include <algorithm>
#include <cmath>

#include "core/units.hpp"
#include "explain/limiter.hpp"

namespace cllab::explain {
namespace {

using model::Bound;
using model::Explanation;
using model::Figure;
using model::Limits;
using model::Record;

/// `count` of something at the rate of `figure`.
Bound at_rate(std::string id, std::string name, std::string brief, double count, const std::string& unit, const Figure& figure) {
    const double low = figure.low > 0 ? figure.low : figure.value, high = std::max(figure.high, figure.value);
    std::string counted = format_rate(count, unit);
    return {std::move(id), std::move(name), std::move(brief), count / figure.value, count / high, count / low,
            counted + " at " + format_rate(figure.value, figure.unit) + " (" + figure.name + ")", figure.id};
}

/// `count` times the time of `figure`.
Bound at_time(std::string id, std::string name, std::string brief, double count, const Figure& figure) {
    const double low = figure.low > 0 ? figure.low : figure.value, high = std::max(figure.high, figure.value);
    return {std::move(id), std::move(name), std::move(brief), count * figure.value, count * low, count * high,
            (count == 1 ? "" : format_significant(count, 3) + " times ") + format_seconds(figure.value) + " (" + figure.name + ")", figure.id};
}

std::string level_id(std::size_t level) { return "l" + std::to_string(level + 1); }
std::string level_name(std::size_t level) { return "L" + std::to_string(level + 1); }

/// Bytes that one instance of each level holds, as `family` found them; else by the operating system.
std::vector<double> sizes_of(const Limits& limits, const std::string& family) {
    std::vector<double> out;
    if (limits.caches.empty()) {
        while (const auto* size = limits.find(family + "." + level_id(out.size()) + ".size")) out.push_back(std::max(size->value, size->high));
    } else {
        out.assign(limits.caches.begin(), limits.caches.end());
    }
    return out;
}

/// Twice what the caches hold: a part of anything smaller may be found there.
bool is_beyond_caches(const Record& record, const Limits& limits, const std::vector<double>& sizes) {
    if (record.time->cache == "cold" || record.time->cache == "rotate") return true;
    const double last = std::max({static_cast<double>(limits.last_level_bytes), static_cast<double>(record.device.last_level_bytes), sizes.empty() ? 0 : sizes.back()});
    return last > 0 && record.work.footprint > 2 * last;
}

/// The fastest level that may serve `bytes`, when each of `instances` holds another part of them; nothing when no size is known.
std::optional<std::size_t> level_of(double bytes, const std::vector<double>& sizes, double instances) {
    for (std::size_t i = 0; i < sizes.size(); ++i)
        if (bytes <= 2 * sizes[i] * (i + 1 < sizes.size() ? instances : 1)) return i;
    return sizes.empty() ? std::nullopt : std::optional(sizes.size() - 1);
}

/// The fastest of the streams that read and write in the proportion of the cell; of all of them where none does.
const Figure* stream_like(const Record& record, const Limits& limits) {
    const auto fastest = [&](std::initializer_list<const char*> ids) {
        const Figure* out = nullptr;
        for (const auto* id : ids)
            if (const auto* f = limits.find(std::string("bandwidth.") + id); f && (!out || f->value > out->value)) out = f;
        return out;
    };
    const Figure* like = nullptr;
    if (record.work.read) {
        const double read = *record.work.read / record.work.bytes;
        if (read > 0.98) like = fastest({"read", "memory.rate"});
        else if (read < 0.02) like = fastest({"write"});
        else if (std::abs(read - 0.5) < 0.03) like = fastest({"copy", "batch"});
        else if (std::abs(read - 2.0 / 3) < 0.03) like = fastest({"triad"});
    }
    return like ? like : fastest({"copy", "batch", "read", "write", "triad", "memory.rate"});
}

void bound_memory(const Record& record, const Limits& limits, Explanation& out) {
    const auto& work = record.work;
    const auto leave_out = [&](const std::string& why) { out.unbounded.emplace_back("memory traffic", why); };
    if (work.bytes <= 0) return leave_out("no bytes are declared");
    const auto sizes = sizes_of(limits, "bandwidth");
    const auto* streamed = limits.find("bandwidth.streamed");
    if (is_beyond_caches(record, limits, sizes) || (streamed && work.footprint >= 0.99 * streamed->value)) {
        const auto* stream = stream_like(record, limits);
        if (!stream) return leave_out("the profile has no memory bandwidth");
        out.bounds.push_back(at_rate("memory", "memory bandwidth", "memory", work.bytes, "B", *stream));
        if (work.assumed) out.bounds.back().how += ", every buffer once";
        return;
    }
    // What is known of a cache is the rate at which it is read.
    if (!work.read) return leave_out("its buffers may lie in a cache, and how many of the bytes are read is not known");
    if (*work.read <= 0) return leave_out("its buffers may lie in a cache, and nothing is read");
    const auto level = level_of(work.footprint, sizes, limits.units);
    if (!level) return leave_out("the profile does not say where the caches end");
    const auto* rate = limits.find("bandwidth." + level_id(*level) + ".rate");
    if (!rate) return leave_out("the profile has no bandwidth of " + level_name(*level));
    // No level is slower than what lies behind it, whatever disturbed its figure.
    for (std::size_t behind = *level + 1; behind <= sizes.size() + 1; ++behind) {
        const auto* other = limits.find(behind > sizes.size() ? "bandwidth.read" : "bandwidth." + level_id(behind) + ".rate");
        if (other && other->value > rate->value) rate = other;
    }
    out.bounds.push_back(at_rate(level_id(*level), level_name(*level) + " bandwidth", level_name(*level), *work.read, "B", *rate));
    if (work.assumed) out.bounds.back().how += ", every buffer once";
}

void bound_arithmetic(const Record& record, const Limits& limits, Explanation& out) {
    const auto& work = record.work;
    const auto leave_out = [&](const std::string& why) { out.unbounded.emplace_back("arithmetic", why); };
    if (work.flops <= 0) return leave_out("no operations are declared");
    const auto* peak = limits.find("fma.peak." + work.type);
    if (!peak) return leave_out("the profile has no " + work.type + " peak");
    auto bound = at_rate("arithmetic", work.type + " arithmetic", work.type, work.flops, work.type == "uint" ? "op" : "FLOP", *peak);
    // The staircase of the time over the number of groups showed that a unit does whole groups.
    const auto* units = limits.find("fma.units");
    const double rounds = units && work.groups > 0 ? std::ceil(work.groups / std::round(units->value)) * std::round(units->value) / work.groups : 1;
    if (rounds > 1.05) {
        const auto busy = format_significant(work.groups, 3) + " groups on " + format_significant(units->value, 3) + " units";
        bound = {"units", work.type + " arithmetic of " + busy, work.type + "/units", bound.seconds * rounds, bound.low * rounds, bound.high * rounds,
                 bound.how + ", " + format_significant(rounds, 3) + " times as long by " + busy, peak->id};
    }
    out.bounds.push_back(std::move(bound));
}

void bound_atomics(const Record& record, const Limits& limits, Explanation& out) {
    if (record.work.atomics <= 0) return;
    const auto *one = limits.find("atomic.global.one"), *many = limits.find("atomic.global.many");
    // One word has room for one address only; of more, how they are shared out is not known.
    const auto* rate = record.work.footprint <= 8 ? one : one && many ? (one->value > many->value ? one : many) : nullptr;
    if (!rate) {
        out.unbounded.emplace_back("atomics", "the profile has no rate of them");
        return;
    }
    out.bounds.push_back(at_rate("atomics", "atomics", "atomics", record.work.atomics, "op", *rate));
}

void bound_launch(const Record& record, const Limits& limits, Explanation& out) {
    const auto& work = record.work;
    if (work.launches == 0) return;  // of a slope, launching cancels
    const auto *empty = limits.find("launch.empty.item"), *next = limits.find("launch.next.item");
    if (!empty) {
        out.unbounded.emplace_back("launch", "the profile has no empty kernel");
        return;
    }
    auto bound = at_time("launch", "launch", "launch", 1, *empty);
    if (work.launches > 1 && next) {
        const auto more = at_time("", "", "", work.launches - 1, *next);
        bound.seconds += more.seconds;
        bound.low += more.low;
        bound.high += more.high;
        bound.how += " and " + more.how;
    }
    out.bounds.push_back(std::move(bound));
    if (work.groups <= 1) return;
    if (const auto* time = limits.find("dispatch.group.time")) out.bounds.push_back(at_time("groups", "group dispatch", "groups", work.groups, *time));
    else if (const auto* rate = limits.find("dispatch.group.rate")) out.bounds.push_back(at_rate("groups", "group dispatch", "groups", work.groups, "group", *rate));
}

void bound_latency(const Record& record, const Limits& limits, Explanation& out) {
    const auto& work = record.work;
    const auto leave_out = [&](const std::string& why) { out.unbounded.emplace_back("latency", why); };
    if (work.chain.empty()) return leave_out("what waits for what is not known");
    std::string figure, name;
    if (work.chain == "load") {
        const auto sizes = sizes_of(limits, "latency");
        const auto level = is_beyond_caches(record, limits, sizes) ? std::nullopt : level_of(work.footprint, sizes, 1);
        if (!level && !is_beyond_caches(record, limits, sizes)) return leave_out("the profile does not say where the caches end");
        name = level ? level_name(*level) : "memory";
        figure = level ? level_id(*level) : "memory";
    } else if (work.chain == "multiply_add") {
        name = figure = work.type;
    } else {
        name = work.chain == "atomic" ? "atomic" : "local memory";
    }
    const auto* latency = limits.find(work.chain == "multiply_add" ? "fma.latency." + figure : work.chain == "atomic" ? "atomic.latency"
                                      : work.chain == "load" ? "latency." + figure + ".latency" : "latency.local.latency");
    if (!latency) return leave_out("the profile has no " + name + " latency");
    out.bounds.push_back(at_time("latency", name + " latency", name + " latency", 1, *latency));
}

}  // namespace

Explanation bounds_of(const Record& record, const Limits& limits) {
    Explanation out;
    if (!record.time) return out;
    bound_memory(record, limits, out);
    bound_arithmetic(record, limits, out);
    bound_atomics(record, limits, out);
    bound_launch(record, limits, out);
    bound_latency(record, limits, out);
    if (record.code.local_bytes.value_or(0) > 0) out.unbounded.emplace_back("local memory and barriers", "how often they are used is not counted");
    out.unbounded.emplace_back("instruction issue", "executed instructions are not counted");
    std::stable_sort(out.bounds.begin(), out.bounds.end(), [](const Bound& a, const Bound& b) { return a.seconds > b.seconds; });
    return out;
}

}  // namespace cllab::explain
