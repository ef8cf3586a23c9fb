// Which registers an instruction reads and writes, for inspect/code/liveness.hpp. Each instruction set has a file of
// its own for it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/code/code.hpp"

namespace cllab::inspect {

/// A register, or a part of one that can be overwritten alone: al, ah and the rest of rax are parts of one register.
struct Unit {
    unsigned kind = 0;  ///< index in InstructionSet::register_kinds
    unsigned number = 0;
    unsigned part = 0;
    auto operator<=>(const Unit&) const = default;
};

/// Registers that are handed out from one file.
struct RegisterKind {
    const char* label;                     ///< "v"; nullptr: followed, but not counted
    const char* prefix;                    ///< of a name, "v" of v12
    bool by_lane = false;                  ///< written only for the work-items that are active (GCN's vector registers)
    std::span<const char* const> names{};  ///< instead of prefix and number
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

/// Operands of a list, cut at the commas outside of brackets, trimmed.
std::vector<std::string> operands_of(std::string_view text);

}  // namespace cllab::inspect

// The rules of what each instruction set's instructions do with registers: isa/<name>_roles.cpp. All `roles` give
// nothing for an instruction they have no rule for.

namespace cllab::inspect::gcn {
extern const std::span<const RegisterKind> register_kinds;
std::optional<Roles> roles(const Instruction& instruction);
}  // namespace cllab::inspect::gcn

namespace cllab::inspect::ptx {
extern const std::span<const RegisterKind> register_kinds;
std::optional<Roles> roles(const Instruction& instruction);
}  // namespace cllab::inspect::ptx

namespace cllab::inspect::sass {
extern const std::span<const RegisterKind> register_kinds;
std::optional<Roles> roles(const Instruction& instruction);
/// Whether every BSYNC goes on where its BSSY says that the work-items meet.
bool jumps_are_seen(const Function& function);
}  // namespace cllab::inspect::sass

namespace cllab::inspect::x86 {
extern const std::span<const RegisterKind> register_kinds;
std::optional<Roles> roles(const Instruction& instruction);
/// Whether two names are of the same register, as "eax" and "rax" are; in lower case.
bool is_same_register(std::string_view one, std::string_view other);
}  // namespace cllab::inspect::x86
