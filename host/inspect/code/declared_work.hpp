// Whether the work that a probe declares stands in the machine code. A time proves nothing of a loop that the compiler
// turned into a closed form, and the outputs of such a loop are right.
//
// Every rule here errs towards finding work: an instruction counts as all the elements that it could handle, and code
// that cannot be followed is not judged. A probe is accused only when its operations are not there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inspect/code/analysis.hpp"
#include "model/experiment.hpp"

namespace cllab::inspect {

/// False where the instruction set has no instructions to count, as for barriers on CPUs, which are the ends of loops.
bool can_count(const InstructionSet& isa, model::Declared::What what);

/// Elements of `declared` that this instruction may handle, 0 for none. At the most: an instruction whose lanes or
/// width the text leaves open counts as the widest.
double elements_of(const InstructionSet& isa, const Instruction& instruction, const model::Declared& declared);

/// Elements of `declared` in the function `stats` was counted in. `text` is its listing, for the functions it calls.
/// With `a_trip`, only instructions in loops count, where the loops are known. Nothing when it cannot be told: no
/// instructions, calls to code that is not in the listing, or an operation that this ISA has no instruction for.
std::optional<double> count_work(const FunctionStats& stats, const std::string& text, const model::Declared& declared,
                                 bool a_trip);

struct WorkCheck {
    bool counted = false;            ///< everything declared was counted in some listing
    std::vector<std::string> found;  ///< "float multiply-adds found 64 of the 64 declared (ptx)"
    std::string collapsed;           ///< the first of these with fewer than 95 %; empty: all there, or not counted
    std::string doubtful;            ///< the same in SASS that ptxas made here: not proven to be the code that runs
};

/// Counts each declaration in each listing of the code.
WorkCheck check_work(const Analysis& analysis, const std::vector<model::Declared>& declared, bool a_trip);

}  // namespace cllab::inspect
