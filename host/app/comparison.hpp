// Two variants side by side: their times where they ran, what the compiler made of them, and one loop of each aligned.
#pragma once

#include <string>

#include "app/isa_code.hpp"
#include "model/result.hpp"

namespace cllab::app {

/// Registers, spills, counts of one iteration of the loops shown (FunctionStats::shown), and the two bodies aligned; for a
/// terminal with colours.
std::string comparison_text(const CellCode& left, const CellCode& right, bool colour);

/// The two medians and the ratio of the times round by round, with its interval. Both records timed, in one comparison.
std::string ratio_text(const model::Record& left, const model::Record& right);

}  // namespace cllab::app
