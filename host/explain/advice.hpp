// Sentences for the user, most of them derived from counts. advice(): what the user can change. contradictions(): which
// declared amounts the counts contradict. difference(): how the executed work of two cells differs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/counts.hpp"
#include "model/explanation.hpp"

namespace cllab::explain {

using namespace model;

/// One sentence per avoidable cost of at least a tenth of the time, one if compute units are idle, and one if a GPU's
/// launch has fewer work-items than one wave per compute unit. If no bound explains the time, costs without a bound are
/// included. Also has the warning that the driver chose the work-group size. Empty if there is nothing to say.
std::string advice(const Record& record, const Explanation& explanation, const Limits& limits);

/// Describes the two largest differences in the executed work of two cells. `a` and `b`: one Counts per distinct launch
/// of each cell. `as_long`: time of b divided by time of a. `waves`: work-items execute in waves, as on a GPU.
/// `named_ratio`: ratio of a difference that the caller has already printed. On a CPU, a
/// difference in sectors is omitted if its ratio is smaller than that.
std::string difference(std::span<const Counts> a, std::span<const Counts> b, double as_long, bool waves,
                       double named_ratio = 1);

/// One sentence, with both figures, per declared amount that the counts contradict. Declared bytes contradict the
/// counts if they exceed the requested bytes, or are less than half of the distinct bytes touched. Declared FLOP
/// contradict the counts if they are less than half of the counted FLOP. If the kernel has no float divisions or
/// functions, declared FLOP also contradict the counts if they are more than twice the sum of counted FLOP and integer
/// operations. The bounds still use the declared values.
std::vector<std::string> contradictions(const Record& record);

}  // namespace cllab::explain
