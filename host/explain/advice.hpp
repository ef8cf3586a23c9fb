// Sentences that counts prove: what the user can change, what contradicts a declaration, how two launches differ.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/counts.hpp"
#include "model/explanation.hpp"

namespace cllab::explain {

using namespace model;

/// What the user can change: one sentence per cost of at least a tenth of the time, and one if compute units are idle.
/// If no bound explains the time, costs without a bound are named too.
std::string advice(const Record& record, const Explanation& explanation, const Limits& limits);

/// One sentence with the two largest differences in what operations a and b execute, from one launch of each of their
/// kernels. `as_long`: time of b divided by time of a. `waves`: the device executes work-items in waves, as a GPU does.
/// `said`: the ratio of a difference that was named before; of a CPU's sectors nothing is said that explains less.
std::string difference(std::span<const Counts> a, std::span<const Counts> b, double as_long, bool waves,
                       double said = 1);

/// One sentence per declared amount that the counts contradict, with both figures. Bytes: more than the work-items ask
/// for, or less than half of the distinct bytes they touch. FLOP: a factor above two. The bounds keep the declared
/// values.
std::vector<std::string> contradictions(const Record& record);

}  // namespace cllab::explain
