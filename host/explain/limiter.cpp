#include "explain/limiter.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "explain/constants.hpp"
#include "model/warning.hpp"

namespace cllab::explain {
namespace {

/// Whether `id` is the bound of a cache level or of memory: "l2", "memory".
bool is_level(const std::string& id) { return id == "memory" || (id.size() == 2 && id[0] == 'l'); }

/// Whether two bounds describe the same work: two memory levels, cause and effect, or a CPU's barriers and issue. (A
/// CPU passes a barrier by looping over work-items.)
bool go_together(const Bound& first, const Bound& next) {
    const auto is_loop = [](const Bound& b) { return b.id == "issue" || b.figure == "barrier.item"; };
    return (is_level(first.id) && is_level(next.id)) || is_effect_of(first.id, next.id) ||
           (is_loop(first) && is_loop(next));
}

bool first_is_clear(const std::vector<Bound>& bounds) {
    const auto& first = bounds.front();
    return std::all_of(bounds.begin() + 1, bounds.end(), [&](const auto& next) {
        return go_together(first, next) || (next.high < first.low && next.seconds <= clear_of_the_next * first.seconds);
    });
}

/// A stall reason, and the limiter that it names if no resource is busy. Empty `id`: none.
struct Stall {
    std::string_view name;
    const char *id, *limiter;
};

/// Stall reasons of one kind, and the bounds of the resources that cause them.
struct Reason {
    const char* what;
    std::vector<Stall> stalls;
    std::vector<std::string_view> bounds;
};

const std::vector<Reason> reasons{
    {"global memory",
     {{"long_scoreboard", "latency", "memory latency"}, {"lg_throttle", "", ""}, {"drain", "", ""}},
     {"memory", "l1", "l2", "l3", "l4", "atomics", "latency"}},
    {"local memory and special functions",
     {{"short_scoreboard", "latency", "local memory latency"}, {"mio_throttle", "", ""}},
     {"local", "l1", "local_atomics", "functions", "division", "pipe", "latency"}},
    {"arithmetic",
     {{"wait", "latency", "arithmetic latency"},
      {"math_pipe_throttle", "pipe", "arithmetic pipes"},
      {"dispatch_stall", "", ""}},
     {"arithmetic", "units", "integer", "division", "functions", "pipe", "issue", "latency"}},
    {"barriers", {{"barrier", "barriers", "barriers"}}, {"barriers"}}};

const Reason& reason_of(const Wait& wait) {
    return *std::ranges::find_if(
        reasons, [&](const Reason& r) { return std::ranges::count(r.stalls, wait.stall, &Stall::name) > 0; });
}

/// Whether warps may wait for atomics that have no bound, because the profile lacks their peak.
bool may_be_atomics(const Explanation& e, const Reason& reason) {
    const std::array<std::pair<const char*, const char*>, 2> atomics{
        {{"atomics", "global atomics"}, {"local_atomics", "atomics on local memory"}}};
    return std::ranges::any_of(atomics, [&](const auto& kind) {
        return std::ranges::count(reason.bounds, kind.first) > 0 && std::ranges::count(e.no_peak, kind.second) > 0;
    });
}

/// The limiter that the wait names. If warps wait for global memory, and atomics are the largest bound apart from the
/// launch, atomics are the limiter: an atomic may take longer than in the profile.
std::optional<Bound> wait_as_limiter(const Explanation& e, double seconds) {
    const auto& reason = reason_of(*e.wait);
    const auto most = std::ranges::find_if(e.bounds, [](const auto& b) { return b.id != "launch"; });
    const bool adds = most != e.bounds.end() && most->id == "atomics" && std::ranges::count(reason.bounds, most->id);
    const auto& stall = *std::ranges::find(reason.stalls, e.wait->stall, &Stall::name);
    const std::string id = adds ? most->id : stall.id, name = adds ? most->name : stall.limiter;
    if (id.empty()) return std::nullopt;
    return Bound{id, name, name, seconds, 0, seconds, "its share of all waiting (ncu), of the time without the launch",
                 ""};
}

}  // namespace

void decide_limit(const Record& record, Explanation& out) {
    out.limit = limit_of(out.bounds, *record.time);
    out.second = (out.limit == Limit::unexplained || out.limit == Limit::named) && record.work.launches == 1
                     ? after_launch(out.bounds, *record.time)
                     : 0;
    if (out.second > 0) out.limit = Limit::named;
    out.wait = longest_wait(record);
    name_by_wait(record, out);
    // Other processes may fill a shared cache. The kernel's bytes may then come from memory and take as long as its
    // instructions.
    if (out.limiter() && out.limiter()->id == "issue" && out.uncached > clear_of_the_next * out.limiter()->seconds) {
        out.limit = Limit::unexplained;
        out.second = 0;
    }
    if (out.limit == Limit::named && record.time->spread() > widest_spread) out.limit = Limit::unsteady;
}

Explanation explain(const Record& record, const Limits& limits) {
    auto out = bounds_of(record, limits);
    if (!record.time) return out;
    decide_limit(record, out);
    return out;
}

void drop_removed(const Record& record, Explanation& out) {
    const auto is_removed = [&](const Bound& b) { return b.simulated && b.low > alike * record.time->high; };
    const char* why = record.counts
                          ? "the counted work alone would take longer than the kernel: the compiler removed a part "
                            "of it, or made faster code than the probe's ("
                          : "moving every buffer once would take longer than the kernel, so the kernel moves only a "
                            "part of them (";
    for (const auto& b : out.bounds)
        if (is_removed(b)) out.leave_out(b.name, why + b.how + ")");
    if (std::erase_if(out.bounds, is_removed) > 0) decide_limit(record, out);
}

std::string limit_in_a_word(const Record& record, const Limits& limits) {
    const auto found = explain(record, limits);
    const auto* limiter = found.limiter();
    return limiter ? limiter->brief + (found.follower() ? "+" + found.follower()->brief : "") : "-";
}

Limit limit_of(const std::vector<Bound>& bounds, const Timing& time) {
    if (bounds.empty()) return Limit::unexplained;
    for (const auto& bound : bounds)
        if (bound.low > alike * time.high || (bound.figure == "issue.rate" && bound.seconds > far_beyond * time.high))
            return Limit::impossible;
    if (bounds.front().seconds < most_of_the_time * time.median) return Limit::unexplained;
    return first_is_clear(bounds) ? Limit::named : Limit::close;
}

std::size_t after_launch(const std::vector<Bound>& bounds, const Timing& time) {
    constexpr double most = alike * alike;  // each of the two times may be off by `alike`
    const auto is_launch = [](const Bound& b) { return b.id == "launch"; };
    const auto launch = std::ranges::find_if(bounds, is_launch);
    const auto other = std::ranges::find_if_not(bounds, is_launch);
    if (launch == bounds.end() || other == bounds.end()) return 0;
    const double sum = launch->seconds + other->seconds;
    if (sum < least_with_launch * time.median) return 0;
    if (sum - launch_shorter_by * launch->seconds > most * time.median) return 0;
    if (std::min(launch->seconds, other->seconds) < part_beside_launch * time.median) return 0;
    const auto next = std::find_if_not(other + 1, bounds.end(), is_launch);
    if (next != bounds.end() && (next->seconds > clear_of_the_next * other->seconds || next->high >= other->low))
        return 0;
    return static_cast<std::size_t>(std::max(launch, other) - bounds.begin());
}

namespace {

double metric(const Record& record, const std::string& wanted, const std::string& unit) {
    const auto* found = find_in(record.metrics, wanted);
    return found && found->unit == unit ? found->value : 0;
}

/// Size of the last-level cache in bytes; 0: unknown. The largest size found by a pointer chase that reached memory, or
/// a larger amount that the bandwidth sweep read at a cache's rate. A chase may find only the near half of a cache, or
/// the reach of the TLB.
std::uint64_t last_level_of(const std::vector<Figure>& figures, const std::vector<std::string>& absent) {
    double most = 0;
    std::string last;
    for (const auto& f : figures) {
        if (f.unit != "byte" || !glob_match("latency.*l?.size", f.id)) continue;
        const auto chase = f.id.substr(0, f.id.size() - std::string("l1.size").size());
        const bool beyond =
            std::ranges::any_of(figures, [&](const auto& g) { return g.id == chase + "memory.latency"; });
        if (beyond) most = std::max(most, f.high);
        if (glob_match("latency.l?.size", f.id)) last = std::max(last, f.id);
    }
    // If a chase saw a further level but not its end, `absent` lists the id of its size.
    for (const auto& id : absent)
        if (glob_match("latency.l?.size", id) && id > last) return 0;
    if (most == 0) return 0;  // without a chase, a bandwidth sweep may end in L2, before L3
    for (const auto& f : figures)
        if (glob_match("bandwidth.l?.size", f.id)) most = std::max(most, f.value);
    return most > 0 && most < 1e15 ? static_cast<std::uint64_t>(most) : 0;
}

}  // namespace

Limits limits_of(const std::vector<Figure>& figures, const std::vector<std::string>& absent, const std::string& utc,
                 const Device& device) {
    Limits out;
    out.utc = utc;
    out.figures = figures;
    out.caches = device.is_cpu() ? device.host_cache_levels : std::vector<std::uint64_t>();
    out.units = device.compute_units;
    if (const auto* counted = out.find("fma.units"); out.units == 0 && counted)
        out.units = static_cast<unsigned>(counted->value);  // the device is on another machine
    out.units = std::max(1u, out.units);
    out.compute_capability = device.compute_capability;
    bool swept = false;
    for (const auto& f : figures) {
        if (f.id == "fma.peak.float") out.float_peak = f.value;
        if (f.id == "fma.peak.double") out.double_peak = f.value;
        if (f.id == "launch.empty.item") out.empty_launch_seconds = f.value;
        // Without a sweep over the levels, a cache may be faster than `bandwidth`.
        swept = swept || glob_match("bandwidth.l?.rate", f.id);
        if (f.unit == "B/s" && f.value > out.bandwidth) {
            out.bandwidth = f.value;
            out.bandwidth_name = f.name;
        }
    }
    if (!swept) out.bandwidth = 0;
    out.last_level_bytes = last_level_of(figures, absent);
    return out;
}

std::optional<std::string> beyond_peak(const Record& record, const Limits& limits, bool one_launch) {
    const auto sentence = [&](const std::string& figure, const std::string& limit) {
        return warning(Warning::beyond_peak,
                       figure + ", but the profile of " + limits.utc + " measured " + limit +
                           "; the kernel skips work, the clock is wrong, or the profile was disturbed");
    };
    const auto* const axis = find_in(record.point, "type");
    const std::string type = axis ? *axis : "float";  // the axis names the type that a family computes in
    const double peak = type == "double" ? limits.double_peak : type == "float" ? limits.float_peak : 0;
    const double flops = metric(record, "flops", "FLOP/s");
    if (peak > 0 && flops > alike * peak)
        return sentence("it computes " + format_rate(flops, "FLOP/s"),
                        "a " + type + " peak of " + format_rate(peak, "FLOP/s"));
    const double bandwidth = metric(record, "bandwidth", "B/s");
    if (limits.bandwidth > 0 && bandwidth > alike * limits.bandwidth)
        return sentence("it moves " + format_rate(bandwidth, "B/s"),
                        format_rate(limits.bandwidth, "B/s") + " at most (" + limits.bandwidth_name + ")");
    if (one_launch && record.time && limits.empty_launch_seconds > 0 &&
        record.time->median < least_of_empty_launch * limits.empty_launch_seconds)
        return sentence("it takes " + format_seconds(record.time->median),
                        format_seconds(limits.empty_launch_seconds) + " for an empty kernel of one work-item");
    return std::nullopt;
}

// A kernel may reach no peak because its warps wait. The main reason of the waiting can name a limiter: a `busy`
// resource that causes it, or else the waiting itself (Stall).

std::optional<Wait> longest_wait(const Record& record) {
    if (!has_counters(record)) return std::nullopt;
    constexpr std::string_view begin = "smsp__average_warps_issue_stalled_", end = "_per_issue_active.ratio";
    const auto time_in = [&](std::string_view stall) {
        return counter_of(record, concat(begin, stall, end)).value_or(0);
    };
    double all = 0;
    for (const auto& c : record.counters)
        if (c.name.starts_with(begin) && c.name.ends_with(end)) all += c.value;
    // A selected warp issues, and a warp that is not selected is ready: neither waits.
    all -= time_in("selected") + time_in("not_selected");
    Wait out;
    double most = 0;
    for (const auto& reason : reasons) {
        double sum = 0;
        const Stall* longest = &reason.stalls.front();
        for (const auto& stall : reason.stalls) {
            sum += time_in(stall.name);
            if (time_in(stall.name) > time_in(longest->name)) longest = &stall;
        }
        if (sum > most) most = sum, out = {std::string(longest->name), reason.what, sum / all};
    }
    return most > 0 && out.share >= most_of_the_waiting ? std::optional(out) : std::nullopt;
}

void name_by_wait(const Record& record, Explanation& out) {
    if (!out.wait || (out.limit != Limit::unexplained && out.limit != Limit::close)) return;
    // Warps exist only between the first and the last work-item, not during the launch overhead.
    const double launch = out.seconds_of("launch"), inside = std::max(0.0, record.time->median - launch);
    const auto is_busy = [&](const Bound& b) { return b.seconds >= std::max(busy * inside, launch); };
    const auto& of_reason = reason_of(*out.wait).bounds;
    auto limiter = std::ranges::find_if(
        out.bounds, [&](const Bound& b) { return is_busy(b) && std::ranges::count(of_reason, b.id) > 0; });
    if (limiter == out.bounds.end()) {
        if (may_be_atomics(out, reason_of(*out.wait))) return;
        auto wait = wait_as_limiter(out, out.wait->share * inside);
        const bool idle = std::ranges::none_of(
            out.bounds, [&](const auto& b) { return b.id != "launch" && b.seconds >= busy * inside; });
        if (!wait || !idle || wait->seconds < launch) return;
        std::erase_if(out.bounds, [&](const auto& b) { return b.id == wait->id; });
        out.bounds.push_back(*std::move(wait));
        limiter = out.bounds.end() - 1;
    }
    std::rotate(out.bounds.begin(), limiter, limiter + 1);
    out.limit = Limit::named;
}

}  // namespace cllab::explain
