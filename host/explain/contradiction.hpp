// Where what a kernel file declares and what was counted cannot both be true.
#pragma once

#include <string>
#include <vector>

#include "model/result.hpp"

namespace cllab::explain {

/// A sentence with both figures for each amount of the record's work that its counts contradict: more bytes declared
/// than its work-items ask for, or less than half of the different ones that they touch; floating-point operations
/// more or less by a factor above two. Nothing is averaged, and the bounds stay those of the declaration.
std::vector<std::string> contradictions(const model::Record& record);

}  // namespace cllab::explain
