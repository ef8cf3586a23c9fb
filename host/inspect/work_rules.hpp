// How many elements of a declared operation one instruction handles, for each instruction set.
#pragma once

#include "inspect/code.hpp"
#include "model/experiment.hpp"

namespace cllab::inspect {

/// False where the ISA has no instructions to count, as for barriers on CPUs, which are the ends of loops.
bool can_count(Isa isa, model::Declared::What what);

/// Elements of `declared` that this instruction may handle, 0 for none. At the most: an instruction whose lanes or
/// width the text leaves open counts as the widest.
double elements_of(Isa isa, const Instruction& instruction, const model::Declared& declared);

/// Calls a function; of jumps into other functions it knows nothing.
bool is_call(Isa isa, const Instruction& instruction);

/// An x86 move or fill of as many bytes as a register says.
bool is_string_move(Isa isa, const Instruction& instruction);

}  // namespace cllab::inspect
