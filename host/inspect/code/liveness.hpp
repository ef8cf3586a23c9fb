// Live registers: how many registers hold a value that may still be read, at each instruction of a function.
//
// Backward data flow over the blocks of inspect/code/code.hpp. On a GPU with an execution mask (GCN) the number is that
// of one work-item. While a work-item waits for others to leave a branch, its registers keep their values, because
// writes skip it. So an instruction that deactivates work-items has more successors than the next instruction: all
// later ones at which these work-items may become active again.
//
// The numbers are therefore never too small. They are too large if work-items wait for different things, which the
// analysis does not distinguish. It counts what the waiting side of a branch keeps for both sides.
//
// The result is unknown if the function has an instruction without a rule for its operands. It is also unknown if the
// function has a call, or a jump to an address in a register.
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

/// Registers that are allocated from one file.
struct RegisterKind {
    const char* label;     ///< "v"; nullptr: followed, but not counted
    const char* prefix;    ///< of a register's name, "v" of v12
    bool by_lane = false;  ///< written only for the work-items that are active (GCN's vector registers)
};

/// What one instruction does with registers. A write overwrites the whole unit, so its old value is no longer needed.
/// `touches`: a write that happens only under a predicate, or that keeps some of the bits.
struct Roles {
    std::vector<Unit> reads, writes, touches;
    /// GCN's execution mask. `parks`: work-items may become inactive here. `resumes`: work-items whose bits are in a
    /// register or register pair may become active again.
    bool parks = false, resumes = false;
    std::vector<Unit> resumed_from;  ///< with `resumes`; empty: unknown
    /// Source of a mask in a scalar that the instruction writes: the scalars that it reads, the active work-items only,
    /// or a mask that was saved where the analysis does not follow it.
    enum class MaskFrom { scalars, active, elsewhere } mask_from = MaskFrom::scalars;
};

/// Rules of what the instructions of a set do with registers. Each set has its own file for them.
struct RegisterRules {
    std::span<const RegisterKind> kinds;
    /// nullopt if no rule covers the instruction.
    std::optional<Roles> (*roles)(const Instruction& instruction);
    /// False if a work-item may continue elsewhere than at the instructions' targets. nullptr: it never does.
    bool (*jumps_are_seen)(const Function& function) = nullptr;
};
extern const RegisterRules gcn_registers, sass_registers;  ///< isa/<name>_roles.cpp

/// Operands of a list: split at commas outside of brackets, trimmed.
std::vector<std::string> operands_of(std::string_view text);

struct InstructionSet;

struct Liveness {
    std::string unknown;  ///< why the result is unknown; empty if it is known
    struct Kind {
        std::string label;
        unsigned most = 0;
        std::size_t at = 0;  ///< first instruction with that many
        /// By instruction: registers that are read later, and those that it writes. 0 if unreachable.
        std::vector<unsigned> counts{};
    };
    std::vector<Kind> kinds;            ///< kinds that the function names
    std::vector<std::string> at_entry;  ///< registers that are read before they are written: "v0", "s4"
};

Liveness live_registers(const InstructionSet& isa, const Function& function);

/// "live registers at most: v 27 at 0x1a68, s 20 at 0x1a00; set before it begins: v0 s4 s5", or why that is not known.
std::string live_summary(const InstructionSet& isa, const Function& function, const Liveness& live);

}  // namespace cllab::inspect
