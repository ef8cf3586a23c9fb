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
#include <optional>
#include <string>
#include <vector>

#include "explain/measure.hpp"
#include "model/explanation.hpp"

namespace cllab::explain {

class Peaks {
public:
    /// `limits` are those of the device. What measures must live as long.
    Peaks(Measure& measure, const model::Limits& limits) : measure_(measure), limits_(limits), used_(limits) {}

    /// What limits the cell of this record.
    model::Explanation explain(const model::Cell& cell, const model::Record& record);
    /// The cell measured a second time, where its first time names no limiter and the second one stands instead
    /// (second_stands). Which code ran is known of the first time.
    std::optional<model::Record> second_time(const model::Cell& cell, const model::Record& record, model::Limit limit);
    /// Those that the last explanation rests on.
    const model::Limits& limits() const { return used_; }

private:
    std::vector<model::Figure> measured(const std::string& id);
    /// Measures what the profile has not and the explanation misses, twice at the most. Empty where there was nothing
    /// to measure, or it came to nothing.
    std::vector<model::PeakAgain> measure_missing(const model::Explanation& explanation);
    /// Measures the peak of a doubtful bound; nothing where nothing can be said of it. `limit`: what was said of the
    /// cell.
    model::PeakAgain measure_again(const model::Cell& cell, const model::Record& record, model::Limit limit,
                                   const model::Figure& before);
    std::optional<model::Record> once_more(const model::Cell& cell);

    Measure& measure_;
    model::Limits limits_, used_;
    std::map<std::string, unsigned> tried_;  ///< how often, of those that the profile has not
};

}  // namespace cllab::explain
