// Measures peaks again if a cell casts doubt on the profile's values. This happens in the command that runs the cell.
//
// A profile is made once, and the machine may have been busy then. Its peaks are then too slow, and a bound may exceed
// the time of a good cell. Or the machine is busy now, and the cell takes longer than the profile's peaks explain.
// A new measurement of the peak tells the two cases apart.
//
// A faster peak replaces the profile's value for the rest of the command. A slower peak applies only to the current
// cell. It is used only if the cell, timed once more, takes as long as before. The same cause then slows both the peak
// and the cell.
//
// A peak that the profile lacks is measured if a cell is not explained without it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "explain/limiter.hpp"
#include "explain/one_core.hpp"
#include "model/device.hpp"
#include "model/plan.hpp"
#include "model/result.hpp"

namespace cllab::explain {

/// Runs cells and probes on one device. Both functions throw if they are interrupted or if the device is lost.
class Measure {
public:
    virtual ~Measure() = default;
    /// Times one cell, with at most `seconds` of sampling. Does not find its hot code.
    virtual model::Record run(const model::Cell& cell, double seconds) = 0;
    /// Measures the figure `id` of a profile with the few cells that it needs, each sampled for `seconds`. The result
    /// starts with `id`. Other figures from exactly these cells follow. Empty if the cells give no value for `id`.
    virtual std::vector<model::Figure> peak(const std::string& id, double seconds) = 0;
    /// Times a cell of a CPU on one core. nullopt if that is impossible; `why_not` then says why.
    virtual std::optional<OneCoreTimes> on_one_core(const model::Cell& cell, std::string& why_not) = 0;
};

class Peaks {
public:
    /// `limits`: the limits of the device. `measure` must outlive this object.
    Peaks(Measure& measure, const Limits& limits) : measure_(measure), limits_(limits), used_(limits) {}

    /// Explains the time of `record`. First measures missing and doubtful peaks.
    Explanation explain(const Cell& cell, const Record& record);
    /// Times the cell again if its bounds explain too little or too much of the time, or if the time was not steady.
    /// Returns the second record if it replaces `record` (second_stands), else nullopt. Its hot code, work and counts
    /// are those of `record`.
    std::optional<Record> second_time(const Cell& cell, const Record& record, const Explanation& first);
    /// The limits that the last explanation used.
    const Limits& limits() const { return used_; }

private:
    std::vector<Figure> measured(const std::string& id);
    /// Measures the figures that the profile lacks and the explanation needs, each once per device. Returns the figures
    /// that have a reliable value.
    std::vector<PeakAgain> measure_missing(const Explanation& explanation);
    /// Measures the peak of a doubtful bound again, and decides whether to use the new value. `before`: its value so
    /// far. `limit`: whether the bounds with that value name a limiter, or why they do not. The result's `note` says
    /// why the new value is used or not.
    PeakAgain measure_again(const Cell& cell, const Record& record, Limit limit, const Figure& before);
    std::optional<Record> once_more(const Cell& cell);

    Measure& measure_;
    Limits limits_, used_;
    double seconds_ = 0.1;                               ///< sampling time of the cells that measure a peak
    std::map<std::string, Clock::time_point> measured_;  ///< time of the last measurement of each peak
    std::set<std::string> tried_;                        ///< peaks that the profile lacks and that were tried
};

/// The bound whose peak should be measured again; null if no peak is in doubt. If a bound exceeds the time: the bound
/// with the largest low end. If no bound explains the time: the largest bound, if it is at least two fifths of the
/// time. If a CPU's instruction rate is the limiter: that bound.
const Bound* doubted(const Explanation& explanation, const Timing& time);

/// How many times as fast the peak is now: new rate divided by old rate, or old time divided by new time. 0 if a value
/// is missing.
double gain(const Figure& before, const Figure& now);
/// The figures that both measurements have, each from the slower measurement. A figure that is a difference of two
/// times can be far too small under load. One step appeared to take a hundredth of its real time (two cores, five other
/// programs).
std::vector<Figure> slower_of(const std::vector<Figure>& first, const std::vector<Figure>& second);
/// Whether the figure's interval is at most half as wide as its value.
bool is_known(const Figure& figure);
/// Whether `now` is faster by more than the spread of an idle machine. Its interval must be narrow enough (is_known).
bool is_faster(const Figure& before, const Figure& now);
/// Whether `now` is slower by more than the spread of an idle machine, and the two intervals do not overlap.
bool is_slower(const Figure& before, const Figure& now);
/// Whether two times of one cell are equal within the spread of an idle machine.
bool is_alike(double seconds, double other);

/// Whether a cell's second time replaces its first time. `limit`: whether the bounds named a limiter for the first
/// time, or why they did not. If no bound explained the first time, the second must be notably shorter. If a bound
/// exceeded the first time, the second must be notably longer. If the first time was unsteady, the second must be
/// steady. Other processes may have taken a core or memory bandwidth, from the cell or from the measurement of the
/// peak.
bool second_stands(const Timing& first, const Timing& second, Limit limit);

/// Puts `now` in the place of the figure that has the same identifier. The new figure is marked as measured after the
/// profile.
void replace(Limits& limits, Figure now);
/// The peaks of `first` that were used and still have the same value in `limits`. `first`: the peaks that were measured
/// again to explain the cell's first timing.
std::vector<PeakAgain> still_used(std::vector<PeakAgain> first, const Limits& limits);

}  // namespace cllab::explain
