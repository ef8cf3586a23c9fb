// Which peak of a profile a cell casts doubt on, and what becomes of it when it is measured again.
#pragma once

#include "model/explanation.hpp"
#include "model/limits.hpp"

namespace cllab::explain {

/// The bound whose peak is to be measured again: the one farthest above the time, or of a time that is not explained the largest, where it is at
/// least two fifths of it. Nothing else is in doubt.
const model::Bound* doubted(const model::Explanation& explanation, const model::Timing& time);

constexpr double alike = 1.05;  ///< times or rates of a machine at rest that differ by less are the same

/// How many times as fast the same peak is now: a rate over the one before, or a time under it.
double gain(const model::Figure& before, const model::Figure& now);
/// By more than both intervals and the spread of a machine at rest.
bool is_slower(const model::Figure& before, const model::Figure& now);
/// Two times of one cell between which nothing changed.
bool is_alike(double seconds, double other);

/// Puts `now` in the place of the figure of its identifier, with a name that says so.
void replace(model::Limits& limits, model::Figure now);

}  // namespace cllab::explain
