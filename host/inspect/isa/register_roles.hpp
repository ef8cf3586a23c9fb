// The rules of what each instruction set's instructions do with registers: isa/<name>_roles.cpp.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "inspect/code/code.hpp"
#include "inspect/code/roles.hpp"

namespace cllab::inspect {

extern const std::span<const RegisterKind> gcn_register_kinds, sass_register_kinds, ptx_register_kinds,
    x86_register_kinds;

/// All of these give nothing for an instruction they have no rule for.
std::optional<Roles> gcn_roles(const Instruction& instruction);
std::optional<Roles> sass_roles(const Instruction& instruction);
std::optional<Roles> ptx_roles(const Instruction& instruction);
std::optional<Roles> x86_roles(const Instruction& instruction);

/// Whether two names are of the same register, as "eax" and "rax" are; in lower case.
bool is_same_x86_register(std::string_view one, std::string_view other);

/// Whether every BSYNC goes on where its BSSY says that the work-items meet.
bool sass_jumps_are_seen(const Function& function);

}  // namespace cllab::inspect
