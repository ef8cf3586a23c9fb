// Source lines of machine code that was built with line information.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "inspect/binary/bounded_bytes.hpp"

namespace cllab::inspect {

/// Places by the address of the instruction from which on they hold, "pitch.cl:141", read from what objdump and
/// llvm-objdump print with --line-numbers. Folders are left out.
std::map<std::uint64_t, std::string> source_places(std::string_view listing);
/// The same of an ELF file for the host's processors; empty without a disassembler or line information.
std::map<std::uint64_t, std::string> source_places_of(ByteSpan host_elf);

/// The lines of a text by the places that its #line directives give them: "pitch.cl:141" -> "    for (…".
std::map<std::string, std::string> lines_by_place(const std::string& source);

}  // namespace cllab::inspect
