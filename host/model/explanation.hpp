// The limiter of a cell's time, as data. explain/ finds it, report/ prints it.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/grouped.hpp"
#include "model/result.hpp"

namespace cllab::model {

/// The least time that the cell's work needs on one resource: work divided by the device's measured peak.
struct Bound {
    std::string id;    ///< "memory", "l2", "arithmetic", "units", "atomics", "launch", "groups", "latency", "barriers",
                       ///< "local", "issue", "pipe", "execution", "access", "values", "shared"
    std::string name;  ///< "memory bandwidth"
    std::string brief;                      ///< short name for a table column: "memory"
    double seconds = 0, low = 0, high = 0;  ///< low..high: from the interval of the peak
    std::string how;                        ///< "33.6 MB at 25.5 GB/s (copy bandwidth)"
    std::string figure;                     ///< identifier of the peak in the profile
    /// True if the work was counted from the kernel's text or assumed from the buffer sizes. The compiler may have
    /// removed part of the counted work, and the kernel may not use all of the buffers.
    bool simulated = false;
};

enum class Limit {
    named,        ///< the largest bound explains most of the time and is clearly larger than the next
    close,        ///< the largest bound explains most of the time, but the next is almost as large
    unexplained,  ///< no bound is close to the time
    impossible,   ///< a bound is longer than the time
    unsteady,     ///< a bound explains the time, but the time's interval is too wide
};
const char* name(Limit limit);  ///< "named", "not explained": the JSON value

/// The main reason why the warps of a launch wait, from a profiler.
struct Wait {
    std::string stall;  ///< the profiler's name of the longest stall with this reason: "long_scoreboard"
    std::string what;   ///< "global memory"
    double share = 0;   ///< share of all waiting
};

/// A peak of the profile that was measured again because a cell cast doubt on it.
struct PeakAgain {
    std::string figure, name, unit;  ///< of the profile
    double before = 0;               ///< value in the profile, or measured later; 0: the profile has none
    double now = 0;                  ///< 0: not measured; `note` says why
    bool used = false;               ///< the bounds use the new value
    std::string note;                ///< why the peak was doubted, and why the new value is used or not
    bool of_profile = true;          ///< `before` is from the profile
};

/// Bound::name of "execution"; also its name in Explanation::unbounded.
inline constexpr const char* execution_title = "execution in the cores";
/// Bound::figure of the parts of a time that was split on one core. They add up to about the time.
inline constexpr const char* one_core_figure = "one_core";
/// Why a short time is not split on one core.
inline constexpr const char* too_short_to_split = "the time is too short to be split on one core, so try a larger size";

struct Explanation {
    std::vector<Bound> bounds;  ///< largest first; a limiter named by a wait comes before all others
    std::vector<std::pair<std::string, std::string>> unbounded;  ///< resources without a bound, and why
    /// Resources in `unbounded` whose peak the profile lacks. A fuller profile helps.
    std::vector<std::string> no_peak;
    std::vector<std::string> missing;         ///< figures that the profile lacks and that would give a bound
    std::vector<std::string> contradictions;  ///< one sentence per pair of sources that disagree on an amount
    double uncached = 0;  ///< seconds of the bytes at the bandwidth of memory, even if caches hold them; 0: unknown
    double of_copy = 0;   ///< the cell's byte rate divided by that of a copy of as many bytes; 0: unknown
    Limit limit = Limit::unexplained;
    /// With a named limit: index of the bound that adds to the first one instead of overlapping it; 0: none.
    std::size_t second = 0;
    std::optional<Wait> wait;  ///< nullopt if no reason causes at least half of the waiting
    std::string advice;        ///< what the user can change, as the counts prove, or where to look; empty: no advice
    std::vector<PeakAgain> again;  ///< in the order measured
    /// Another time of the cell that differs clearly, and which: "in another measurement"; 0: none.
    double other_seconds = 0;
    std::string other_from;

    /// Records why `what` has no bound.
    void leave_out(std::string what, std::string why) { unbounded.emplace_back(std::move(what), std::move(why)); }
    /// Records that `what` has no bound, because the profile lacks its `peak`. `figure`: what to measure, if anything.
    void lacks(std::string what, const std::string& peak, const std::string& figure = {}) {
        add_once(no_peak, what);
        if (!figure.empty()) missing.push_back(figure);
        leave_out(std::move(what), "the profile has no " + peak);
    }
    /// The bound that limits the time; null if none is named.
    const Bound* limiter() const { return limit == Limit::named ? &bounds.front() : nullptr; }
    /// Seconds of the bound with this id; 0: there is none.
    double seconds_of(std::string_view id) const {
        const auto found = std::ranges::find(bounds, id, &Bound::id);
        return found == bounds.end() ? 0 : found->seconds;
    }
    const Bound* follower() const { return second > 0 && second < bounds.size() ? &bounds[second] : nullptr; }
    /// Whether the bound that limits the time, or the one that adds to it, has this id or short name.
    bool limited_by(std::string_view what) const {
        const auto is_that = [&](const Bound* b) { return b && (b->id == what || b->brief == what); };
        return limiter() && (is_that(limiter()) || is_that(follower()));
    }
    /// Seconds of the first bound, plus those of the bound that adds to it.
    double seconds() const {
        return bounds.empty() ? 0 : bounds.front().seconds + (follower() ? follower()->seconds : 0);
    }
};

}  // namespace cllab::model
