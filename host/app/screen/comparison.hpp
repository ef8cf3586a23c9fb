// Two variants side by side: what the compiler made of them, and one loop of each aligned.
#pragma once

#include <string>

#include "app/code/isa_code.hpp"

namespace cllab::app {

/// A part of a cell's code, for people.
struct CodePart {
    std::string place;
    inspect::Counts counts;
    std::vector<inspect::Instruction> body;
};
/// The loop with the most work, or all of the code where it has none (FunctionStats::shown).
CodePart shown_part(const inspect::FunctionStats& stats);
CodePart hot_part(HotBody body);

/// Registers, spills, counts of what is hot on both sides where that is known, else of one iteration of the loops shown
/// (FunctionStats::shown), and the two bodies aligned; for a terminal with colours. `columns`: of the aligned lines,
/// which are cut; 0: the left side at 44, the right one whole.
std::string comparison_text(const CellCode& left, const CellCode& right, bool colour, unsigned columns = 0);

}  // namespace cllab::app
