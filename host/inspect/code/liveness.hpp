// Live registers: at each instruction of a function, how many hold a value that may still be read.
//
// Backward data flow over the blocks of inspect/code/cfg.hpp. On a GPU with an execution mask (GCN) it is what one
// work-item needs: while a work-item waits for others to come out of a branch, nothing it will need is lost, since
// writes pass it by. So an instruction that ends a work-item's activity has, besides the next instruction, all those
// behind it at which the work-item may become active again.
//
// So the numbers are never too small. They are too large where work-items that wait for different things are not told
// apart: what those of one side of a branch keep while the other side runs is counted for both.
//
// One instruction whose operands nobody has a rule for, a call, or a jump to where a register says, and nothing is said
// of the function.
#pragma once

#include <string>
#include <vector>

#include "inspect/code/code.hpp"

namespace cllab::inspect {

struct InstructionSet;

struct Liveness {
    std::string unknown;  ///< why nothing is said; empty where all is known
    struct Kind {
        std::string label;
        unsigned most = 0;
        std::size_t at = 0;  ///< first instruction with that many
        /// By instruction: what is read later and what it writes itself; 0 where nothing leads.
        std::vector<unsigned> counts{};
    };
    std::vector<Kind> kinds;            ///< those that the function names
    std::vector<std::string> at_entry;  ///< registers that are read before they are written: "v0", "rdi"
};

Liveness live_registers(const InstructionSet& isa, const Function& function);

/// "live registers at most: v 27 at 0x1a68, s 20 at 0x1a00; set before it begins: v0 s4 s5", or why that is not known.
std::string live_summary(const InstructionSet& isa, const Function& function, const Liveness& live);

}  // namespace cllab::inspect
