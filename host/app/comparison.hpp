// Two variants side by side: what the compiler made of them, and one loop of each aligned.
#pragma once

#include <string>

#include "app/isa_code.hpp"
#include "model/result.hpp"

namespace cllab::app {

/// Registers, spills, counts of one iteration of the loops shown (FunctionStats::shown), and the two bodies aligned; for a
/// terminal with colours.
std::string comparison_text(const CellCode& left, const CellCode& right, bool colour);

}  // namespace cllab::app
