// What counts prove, in sentences: what the user can change, what a declaration contradicts, how two launches differ.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/counts.hpp"
#include "model/explanation.hpp"

namespace cllab::explain {

using namespace model;

/// What the user can change: a sentence for each cost that is a tenth of the time by its own bound, and for a launch
/// that leaves units idle. Where nothing explains the time, costs without a bound are named, too.
std::string advice(const Record& record, const Explanation& explanation, const Limits& limits);

/// The two largest differences of what two operations execute, in a sentence: of one launch of each of their kernels.
/// `as_long`: the time of b over that of a. `waves`: of a device that executes work-items in waves, as a GPU does.
std::string difference(std::span<const Counts> a, std::span<const Counts> b, double as_long, bool waves);

/// A sentence with both figures for each amount of the record's work that its counts contradict: more bytes declared
/// than its work-items ask for, or less than half of the different ones that they touch; floating-point operations
/// more or less by a factor above two. Nothing is averaged, and the bounds stay those of the declaration.
std::vector<std::string> contradictions(const Record& record);

}  // namespace cllab::explain
