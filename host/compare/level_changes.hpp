// Where a series of times changed its level.
//
// The problem: one slow run in a series is no change, a level that lasts is one, and a method that draws permutations
// finds other places each time it is asked. What is done here: optimal partitioning (Jackson et al., An algorithm for
// optimal partitioning of data on an interval, IEEE Signal Processing Letters 12, 2005) of the logs of the medians,
// exact and without chance. A level costs the sum of absolute distances from its median, in units of the noise, so that
// an outlier costs little; every further level costs a penalty that grows with the logarithm of the length (Yao,
// Statistics & Probability Letters 6, 1988). The noise is taken from the differences of neighbours, which a change of
// level hardly touches.
#pragma once

#include <span>
#include <vector>

#include "model/history.hpp"
#include "model/result.hpp"

namespace cllab::compare {

/// `logs`: logs of medians in the order of time, finite. Levels of at least three points that differ by more than
/// `least` (a log ratio); the first begins at 0. A level that begins within the last three points is provisional. At
/// most 5000 points.
std::vector<model::Level> levels(std::span<const double> logs, double least = 0.01);

/// The timed records of each cell on each device under any driver, by time, and where their level changed.
std::vector<model::History> histories(const std::vector<model::Record>& records);

}  // namespace cllab::compare
