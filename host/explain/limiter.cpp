#include "explain/limiter.hpp"

#include <algorithm>

namespace cllab::explain {
namespace {

/// Of two bounds that the same work makes, or that lie on the way of the same bytes, neither is against the other. A
/// CPU passes a barrier by going through the work-items of the group, which is issuing instructions.
bool go_together(const Bound& first, const Bound& next) {
    const auto is_loop = [](const Bound& b) { return b.id == "issue" || b.figure == "barrier.item"; };
    return (is_level(first.id) && is_level(next.id)) || is_effect_of(first.id, next.id) ||
           (is_loop(first) && is_loop(next));
}

/// Whether the first bound is clear of all others.
bool first_is_clear(const std::vector<Bound>& bounds) {
    const auto& first = bounds.front();
    return std::all_of(bounds.begin() + 1, bounds.end(), [&](const auto& next) {
        return go_together(first, next) || (next.high < first.low && next.seconds <= clear_of_the_next * first.seconds);
    });
}

void name_limit(const Record& record, Explanation& out) {
    out.limit = limit_of(out.bounds, *record.time);
    out.second = (out.limit == Limit::unexplained || out.limit == Limit::named) && record.work.launches == 1
                     ? after_launch(out.bounds, *record.time)
                     : 0;
    if (out.second > 0) out.limit = Limit::named;
    out.wait = longest_wait(record);
    name_by_wait(record, out);
    // How much of a cache that others use too has room for its data is not known, so its bytes may take as long.
    if (out.limiter() && out.limiter()->id == "issue" && out.uncached > clear_of_the_next * out.limiter()->seconds) {
        out.limit = Limit::unexplained;
        out.second = 0;
    }
    if (out.limit == Limit::named && record.time->spread() > widest_spread) out.limit = Limit::unsteady;
}

}  // namespace

Explanation explain(const Record& record, const Limits& limits) {
    auto out = bounds_of(record, limits);
    if (!record.time) return out;
    add_modelled(with_counted_work(record), limits, out);
    name_limit(record, out);
    return out;
}

void drop_removed(const Record& record, Explanation& out) {
    const auto is_removed = [&](const Bound& b) { return b.simulated && b.low > alike * record.time->high; };
    const char* why = record.counts
                          ? "what is counted alone would take longer than the kernel: the compiler left some of "
                            "it out, or does it faster than the probe ("
                          : "its buffers once would take longer than the kernel, which touches a part of them (";
    for (const auto& b : out.bounds)
        if (is_removed(b)) out.leave_out(b.name, why + b.how + ")");
    if (std::erase_if(out.bounds, is_removed) > 0) name_limit(record, out);
}

std::string limit_in_a_word(const Record& record, const Limits& limits) {
    const auto found = explain(record, limits);
    const auto* limiter = found.limiter();
    return limiter ? limiter->brief + (found.follower() ? "+" + found.follower()->brief : "") : "-";
}

Limit limit_of(const std::vector<Bound>& bounds, const Timing& time) {
    if (bounds.empty()) return Limit::unexplained;
    for (const auto& bound : bounds)
        if (bound.low > alike * time.high) return Limit::impossible;
    if (bounds.front().seconds < most_of_the_time * time.median) return Limit::unexplained;
    return first_is_clear(bounds) ? Limit::named : Limit::close;
}

std::size_t after_launch(const std::vector<Bound>& bounds, const Timing& time) {
    constexpr double most = alike * alike;  // of two times, each as far off
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

bool is_level(const std::string& id) { return id == "memory" || (id.size() == 2 && id[0] == 'l'); }

}  // namespace cllab::explain
