// Measures missing peaks, and doubtful peaks again, in the command that runs the cell.
//
// The bounds are too long if other work disturbed the profile, and too short if other work slows the cell now. A new
// measurement of the peak tells the two cases apart:
// - A faster peak replaces the profile's value for the rest of the command.
// - A slower peak applies to the current cell only, and only if a second timing of the cell gives the same time.
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

/// Runs cells and probes on one device. All functions throw if interrupted, or if the device is lost.
class Measure {
public:
    virtual ~Measure() = default;
    /// Times one cell, with at most `seconds` of sampling. Does not find its hot code.
    virtual model::Record run(const model::Cell& cell, double seconds) = 0;
    /// Measures figure `id` of a profile; samples each of its cells for `seconds`. The result starts with `id`; other
    /// figures from the same cells follow. Empty if `id` got no value.
    virtual std::vector<model::Figure> peak(const std::string& id, double seconds) = 0;
    /// Times a cell of a CPU on one core. nullopt if that is impossible; `why_not` then says why.
    virtual std::optional<OneCoreTimes> on_one_core(const model::Cell& cell, std::string& why_not) = 0;
};

class Peaks {
public:
    /// `measure` must outlive this object.
    Peaks(Measure& measure, const Limits& limits) : measure_(measure), limits_(limits), used_(limits) {}

    /// Explains the time of `record`. First measures missing and doubtful peaks. If a CPU's time is still unexplained,
    /// splits it on one core (one_core.hpp).
    Explanation explain(const Cell& cell, const Record& record);
    /// Times the cell again if its limit is unexplained, impossible or unsteady, or comes from one core. Returns the
    /// second record if it replaces `record` (second_stands) or has_two_times; else nullopt. It gets the hot code,
    /// yardstick, work, counts and counters of `record`.
    std::optional<Record> second_time(const Cell& cell, const Record& record, const Explanation& first);
    /// The limits that the last explanation used.
    const Limits& limits() const { return used_; }

private:
    std::vector<Figure> measured(const std::string& id);
    /// If the time is unexplained: measures missing figures not yet tried. Returns those with a reliable value.
    std::vector<PeakAgain> measure_missing(const Explanation& explanation);
    /// Measures a doubtful peak again. `before`: its value so far. `limit`: the verdict with that value. The result's
    /// `note` says why the new value is used or not.
    PeakAgain measure_again(const Cell& cell, const Record& record, Limit limit, const Figure& before);
    std::optional<Record> once_more(const Cell& cell);

    Measure& measure_;
    Limits limits_, used_;
    double seconds_ = 0.1;                               ///< sampling time per cell
    std::map<std::string, Clock::time_point> measured_;  ///< last measurement of each peak
    std::set<std::string> tried_;                        ///< missing peaks that were tried
};

/// The bound whose peak should be measured again; null: none.
/// - Limit::impossible: the bound with the largest low end.
/// - Limit::unexplained: the largest bound, if it is at least `doubtful_from` of the time.
/// - Limit::named, by a CPU's instruction rate: that bound.
const Bound* doubted(const Explanation& explanation, const Timing& time);

/// How many times as fast the peak is now: `new rate / old rate` or `old time / new time`. 0 if a value is missing.
double gain(const Figure& before, const Figure& now);
/// The figures that both measurements have, each from the slower one. The reason: many figures are differences of
/// two times. Under load, such a difference can be a hundredth of its real value, and the peak then looks a hundred
/// times too fast (two cores, five other programs).
std::vector<Figure> slower_of(const std::vector<Figure>& first, const std::vector<Figure>& second);
/// Whether the figure's interval is narrow enough.
bool is_known(const Figure& figure);
/// Whether `now` is faster by more than `alike`, and is_known.
bool is_faster(const Figure& before, const Figure& now);
/// Whether `now` is slower by more than `alike`, and the two intervals do not overlap.
bool is_slower(const Figure& before, const Figure& now);
/// Whether two times of one cell are equal within `alike * alike`.
bool is_alike(double seconds, double other);

/// Whether a cell's second time replaces its first. `limit`: the verdict on the first time. The second must be steady
/// (unsteady), or differ by more than is_alike: shorter (unexplained) or longer (impossible).
bool second_stands(const Timing& first, const Timing& second, Limit limit);
/// Whether the ratio of two times of one cell exceeds `two_speeds`, and their intervals do not overlap.
bool has_two_times(const Timing& a, const Timing& b);

/// Puts `now` in the place of the figure that has the same identifier, and marks it as measured after the profile.
void replace(Limits& limits, Figure now);
/// The elements of `first` that were used and whose value is still in `limits`.
std::vector<PeakAgain> still_used(std::vector<PeakAgain> first, const Limits& limits);

}  // namespace cllab::explain
