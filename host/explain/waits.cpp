// What the warps of a launch wait for, as Nsight Compute counts it, and what that says of the limiter.
//
// A kernel need not come near to the peak of anything: its warps may wait for one another, or there may be too few of
// them. The profiler samples what each of them waits for. Where one reason is most of all waiting, a resource that
// makes warps wait so and is busy for most of the launch limits it, at a lower share than a bound alone must have;
// where nothing is that busy, the wait is the limiter.
#include <algorithm>
#include <string_view>

#include "core/text.hpp"
#include "explain/limiter.hpp"

namespace cllab::explain {
namespace {

/// The profiler's name of a reason to wait, and the limiter that waiting for it is where nothing is busy; no `id`: it
/// says too little.
struct Stall {
    std::string_view name;
    const char *id, *limiter;
};

/// Reasons to wait for one thing, and the bounds of what makes warps wait so.
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

/// The limiter that the wait is. What there is most of may be slower here than in the profile's probes: atomics that
/// are no rate that was tried are what its warps wait for all the same.
std::optional<Bound> wait_as_limiter(const Explanation& e, double seconds) {
    const auto& reason = reason_of(*e.wait);
    const auto most = std::ranges::find_if(e.bounds, [](const auto& b) { return b.id != "launch"; });
    const bool adds = most != e.bounds.end() && most->id == "atomics" && std::ranges::count(reason.bounds, most->id);
    const auto& stall = *std::ranges::find(reason.stalls, e.wait->stall, &Stall::name);
    const std::string id = adds ? most->id : stall.id, name = adds ? most->name : stall.limiter;
    if (id.empty()) return std::nullopt;
    return Bound{id, name, name, seconds, 0, seconds, "what its warps wait for, counted by ncu", ""};
}

}  // namespace

std::optional<Wait> longest_wait(const Record& record) {
    if (!has_counters(record)) return std::nullopt;
    constexpr std::string_view begin = "smsp__average_warps_issue_stalled_", end = "_per_issue_active.ratio";
    const auto time_in = [&](std::string_view stall) {
        return counter_of(record, concat(begin, stall, end)).value_or(0);
    };
    double all = 0;
    for (const auto& c : record.counters)
        if (c.name.starts_with(begin) && c.name.ends_with(end)) all += c.value;
    // The selected warp does not wait, and those not selected are ready.
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
    // What is in front of the first and behind the last work-item waits for nothing.
    const auto bound_of_launch = std::ranges::find(out.bounds, "launch", &Bound::id);
    const double launch = bound_of_launch == out.bounds.end() ? 0 : bound_of_launch->seconds,
                 inside = std::max(0.0, record.time->median - launch);
    const auto is_busy = [&](const Bound& b) { return b.seconds >= std::max(busy * inside, launch); };
    const auto& of_reason = reason_of(*out.wait).bounds;
    auto limiter = std::ranges::find_if(
        out.bounds, [&](const Bound& b) { return is_busy(b) && std::ranges::count(of_reason, b.id) > 0; });
    if (limiter == out.bounds.end()) {
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
