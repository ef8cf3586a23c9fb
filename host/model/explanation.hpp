// The limiter of a cell's time, as data. explain/ finds it, report/ prints it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/grouped.hpp"
#include "model/result.hpp"

namespace cllab::model {

/// A time that the cell cannot beat: its work over the device's measured peak.
struct Bound {
    std::string id;    ///< "memory", "l2", "arithmetic", "units", "atomics", "launch", "groups", "latency", "barriers",
                       ///< "local", "issue", "pipe", "execution", "access", "values", "shared"
    std::string name;  ///< "memory bandwidth"
    std::string brief;                      ///< the same in a word or two, for a column: "memory"
    double seconds = 0, low = 0, high = 0;  ///< low..high: by the interval of the peak
    std::string how;                        ///< "33.6 MB at 25.5 GB/s (copy bandwidth)"
    std::string figure;                     ///< identifier of the peak in the profile
    /// From counts of the text, part of which a compiler may have removed, or from buffers that may not all be used.
    bool simulated = false;
};

enum class Limit {
    named,        ///< the largest bound is most of the time, and clear of the next
    close,        ///< the largest bound is most of the time, and so nearly is the next
    unexplained,  ///< no bound comes near the time
    impossible,   ///< a bound is above the time
    unsteady,     ///< one would be named, but the time itself is not known well enough
};
const char* name(Limit limit);  ///< "named", "not explained": the JSON value

/// The main reason for which the warps of a launch wait, from a profiler.
struct Wait {
    std::string stall;  ///< the profiler's name of the longest part of it: "long_scoreboard"
    std::string what;   ///< "global memory"
    double share = 0;   ///< of all waiting
};

/// A peak of the profile that was measured again because a cell cast doubt on it.
struct PeakAgain {
    std::string figure, name, unit;  ///< of the profile
    double before = 0;               ///< by the profile, or measured since; 0: the profile has none
    double now = 0;                  ///< 0: not measured, and why is in `note`
    bool used = false;               ///< the bounds rest on what was measured now
    std::string note;                ///< why it was doubted, and why it is used or not
    bool of_profile = true;          ///< `before` is by the profile
};

/// Bound::name of "execution", and the name in Explanation::unbounded if it is unknown.
inline constexpr const char* execution_title = "execution in the cores";
/// Why a short time is not split on one core.
inline constexpr const char* too_short_to_split =
    "the time is too short to be split on one core; a larger size may be explained";

struct Explanation {
    std::vector<Bound> bounds;  ///< largest first; in front of all the limiter that a wait named
    std::vector<std::pair<std::string, std::string>> unbounded;  ///< what has no bound, and why
    std::vector<std::string> no_peak;  ///< those of `unbounded` whose peak the profile lacks: a fuller profile helps
    std::vector<std::string> missing;         ///< figures that the profile has not, and that would bound it
    std::vector<std::string> contradictions;  ///< of two sources of one amount, a sentence each
    double uncached = 0;  ///< seconds of its bytes by the bandwidth of memory, wherever they lie; 0: not known
    double of_copy = 0;   ///< the rate of its bytes, as a share of that of a copy of as many; 0: not known
    Limit limit = Limit::unexplained;
    /// With a named limit: index of the bound that adds to the first one instead of overlapping it; 0: none.
    std::size_t second = 0;
    std::optional<Wait> wait;      ///< nothing where no reason is most of it
    std::string advice;            ///< what a count proves that the user can change, or where to look; empty: nothing
    std::vector<PeakAgain> again;  ///< in the order measured
    /// The cell's first time, if it was measured twice; else 0.
    double first_seconds = 0;

    /// Records why `what` has no bound.
    void leave_out(std::string what, std::string why) { unbounded.emplace_back(std::move(what), std::move(why)); }
    /// Records that `what` has no bound, because the profile lacks its `peak`. `figure`: what to measure, if anything.
    void lacks(std::string what, const std::string& peak, const std::string& figure = {}) {
        add_once(no_peak, what);
        if (!figure.empty()) missing.push_back(figure);
        leave_out(std::move(what), "the profile has no " + peak);
    }
    /// The bound that limits; null when none is named.
    const Bound* limiter() const { return limit == Limit::named ? &bounds.front() : nullptr; }
    const Bound* follower() const { return second > 0 && second < bounds.size() ? &bounds[second] : nullptr; }
    /// Seconds of the limiter, and of the bound that follows it.
    double seconds() const {
        return bounds.empty() ? 0 : bounds.front().seconds + (follower() ? follower()->seconds : 0);
    }
};

}  // namespace cllab::model
