// Live registers: at each instruction of a function, how many hold a value that may still be read.
//
// Backward data flow over the blocks of inspect/code/code.hpp. On a GPU with an execution mask (GCN) it is what one
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

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/code/code.hpp"

namespace cllab::inspect {

/// A register.
struct Unit {
    unsigned kind = 0;  ///< index in RegisterRules::kinds
    unsigned number = 0;
    auto operator<=>(const Unit&) const = default;
};

/// Registers that are handed out from one file.
struct RegisterKind {
    const char* label;     ///< "v"; nullptr: followed, but not counted
    const char* prefix;    ///< of a name, "v" of v12
    bool by_lane = false;  ///< written only for the work-items that are active (GCN's vector registers)
};

/// What one instruction does with registers. A write overwrites the whole unit, so that what was there before is no
/// longer needed; one that happens only under a predicate, or that keeps some of the bits, is `touches`.
struct Roles {
    std::vector<Unit> reads, writes, touches;
    /// GCN's execution mask: work-items may stop here to be active, and those whose bits a register or register pair
    /// holds may become active again.
    bool parks = false, resumes = false;
    std::vector<Unit> resumed_from;  ///< with `resumes`; empty: nobody knows which
    /// What a scalar that it writes may hold if it is such a mask: bits of the scalars it reads, of active work-items
    /// alone, or of a mask that was put away where nobody follows it.
    enum class MaskFrom { scalars, active, elsewhere } mask_from = MaskFrom::scalars;
};

/// What the instructions of a set do with registers. Each set has a file of its own for it.
struct RegisterRules {
    std::span<const RegisterKind> kinds;
    /// Nothing where no rule says it.
    std::optional<Roles> (*roles)(const Instruction& instruction);
    /// False where a work-item may go on elsewhere than the instructions' targets say. nullptr: it may not.
    bool (*jumps_are_seen)(const Function& function) = nullptr;
};
extern const RegisterRules gcn_registers, sass_registers;  ///< isa/<name>_roles.cpp

/// Operands of a list, cut at the commas outside of brackets, trimmed.
std::vector<std::string> operands_of(std::string_view text);

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
    std::vector<std::string> at_entry;  ///< registers that are read before they are written: "v0", "s4"
};

Liveness live_registers(const InstructionSet& isa, const Function& function);

/// "live registers at most: v 27 at 0x1a68, s 20 at 0x1a00; set before it begins: v0 s4 s5", or why that is not known.
std::string live_summary(const InstructionSet& isa, const Function& function, const Liveness& live);

}  // namespace cllab::inspect
