// Peaks of the profile that a cell casts doubt on, measured again beside it.
//
// What the profile withheld, because others disturbed it then, is measured where a cell is not explained without it.
//
// A profile is made once, and the machine may have been busy then: a bound by a peak that was too slow is above the
// time of a good cell, which could never be explained. Or the machine is busy now, and the cell takes longer than the
// profile's peak explains. Both show when the peak is measured beside the cell. A faster peak than the profile's stands
// for the rest of the command. A slower one is taken only where the cell, measured once more behind it, takes as long
// as before, so that both were slowed alike, and for that cell only.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "explain/limiter.hpp"
#include "model/device.hpp"
#include "model/plan.hpp"
#include "model/result.hpp"

namespace cllab::explain {

/// Of one device. What measures throws when it is interrupted, and where the device is lost.
class Measure {
public:
    virtual ~Measure() = default;
    /// The cell alone, sampled for `seconds` at the most; which of its code runs is not asked.
    virtual model::Record run(const model::Cell& cell, double seconds) = 0;
    /// A figure of a profile from the few cells that say it, each sampled for `seconds`, and behind it others that the
    /// same cells say; empty where they do not say it.
    virtual std::vector<model::Figure> peak(const std::string& id, double seconds) = 0;
};

class Peaks {
public:
    /// `limits` are those of the device. What measures must live as long.
    Peaks(Measure& measure, const Limits& limits) : measure_(measure), limits_(limits), used_(limits) {}

    /// What limits the cell of this record.
    Explanation explain(const Cell& cell, const Record& record);
    /// The cell measured a second time, where its first time names no limiter and the second one stands instead
    /// (second_stands). Which code ran is known of the first time.
    std::optional<Record> second_time(const Cell& cell, const Record& record, const Explanation& first);
    /// Those that the last explanation rests on.
    const Limits& limits() const { return used_; }

private:
    std::vector<Figure> measured(const std::string& id);
    /// Measures what the profile has not and the explanation misses, once. Empty where there was nothing to measure, or
    /// it came to nothing.
    std::vector<PeakAgain> measure_missing(const Explanation& explanation);
    /// Measures the peak of a doubtful bound; nothing where nothing can be said of it. `limit`: what was said of the
    /// cell.
    PeakAgain measure_again(const Cell& cell, const Record& record, Limit limit, const Figure& before);
    std::optional<Record> once_more(const Cell& cell);

    Measure& measure_;
    Limits limits_, used_;
    double seconds_ = 0.1;                                ///< for which peaks are sampled
    std::map<std::string, Clock::time_point> measured_;  ///< when they were, last
    std::set<std::string> tried_;                        ///< peaks missing in the profile
};

/// The bound whose peak is to be measured again: the one farthest above the time, or of a time that is not explained
/// the largest, where it is at least two fifths of it, or that of a CPU's instructions where they are the limiter.
/// Nothing else is in doubt.
const Bound* doubted(const Explanation& explanation, const Timing& time);

/// How many times as fast the same peak is now: a rate over the one before, or a time under it.
double gain(const Figure& before, const Figure& now);
/// Each figure that both measurements have, as the slower one has it. A difference of two times that others disturb
/// comes out too small as easily as too large: of two in a row a step took a hundredth of what it takes (two cores with
/// five programs beside it).
std::vector<Figure> slower_of(const std::vector<Figure>& first, const std::vector<Figure>& second);
/// Its interval is at most half its value wide.
bool is_known(const Figure& figure);
/// By more than the spread of a machine at rest, and known within a half.
bool is_faster(const Figure& before, const Figure& now);
/// By more than both intervals and the spread of a machine at rest.
bool is_slower(const Figure& before, const Figure& now);
/// Two times of one cell between which nothing changed.
bool is_alike(double seconds, double other);

/// Whether a cell's second time is held against the bounds and not the first: it is notably less than one that no bound
/// explains, or more than one that a bound exceeds (a core, or the memory, that others had for a while, then or when
/// the peak was measured), or it is known where the first one was not.
bool second_stands(const Timing& first, const Timing& second, Limit limit);

/// Puts `now` in the place of the figure of its identifier. It is not the profile's any more.
void replace(Limits& limits, Figure now);
/// Those of a cell's first time that its second time is held against, too.
std::vector<PeakAgain> still_used(std::vector<PeakAgain> first, const Limits& limits);

}  // namespace cllab::explain
