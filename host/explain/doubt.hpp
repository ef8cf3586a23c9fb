// Which peak of a profile a cell casts doubt on, and what becomes of it when it is measured again.
#pragma once

#include <vector>

#include "model/explanation.hpp"
#include "model/limits.hpp"

namespace cllab::explain {

/// The bound whose peak is to be measured again: the one farthest above the time, or of a time that is not explained
/// the largest, where it is at least two fifths of it, or that of a CPU's instructions where they are the limiter.
/// Nothing else is in doubt.
const model::Bound* doubted(const model::Explanation& explanation, const model::Timing& time);

/// How many times as fast the same peak is now: a rate over the one before, or a time under it.
double gain(const model::Figure& before, const model::Figure& now);
/// Each figure that both measurements have, as the slower one has it. A difference of two times that others disturb
/// comes out too small as easily as too large: of two in a row a step took a hundredth of what it takes (two cores with
/// five programs beside it).
std::vector<model::Figure> slower_of(const std::vector<model::Figure>& first, const std::vector<model::Figure>& second);
/// By more than the spread of a machine at rest, and known within a half.
bool is_faster(const model::Figure& before, const model::Figure& now);
/// By more than both intervals and the spread of a machine at rest.
bool is_slower(const model::Figure& before, const model::Figure& now);
/// Two times of one cell between which nothing changed.
bool is_alike(double seconds, double other);

/// Whether a cell's second time is held against the bounds and not the first: it is notably less than one that no bound
/// explains, or more than one that a bound exceeds (a core, or the memory, that others had for a while, then or when
/// the peak was measured), or it is known where the first one was not.
bool second_stands(const model::Timing& first, const model::Timing& second, model::Limit limit);

/// Puts `now` in the place of the figure of its identifier. It is not the profile's any more.
void replace(model::Limits& limits, model::Figure now);
/// Those of a cell's first time that its second time is held against, too.
std::vector<model::PeakAgain> still_used(std::vector<model::PeakAgain> first, const model::Limits& limits);

}  // namespace cllab::explain
