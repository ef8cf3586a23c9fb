// Source lines of a CPU's machine code: of each instruction the line of the text that it was compiled from. Only a
// build with line information has them, and what was measured is none. So the kernel is built once more, and its lines
// are taken where that made the same bytes (`places_of_same_code`).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inspect/binary/bounded_bytes.hpp"

namespace cllab::inspect {

/// The file of a dump that has them.
inline constexpr const char* lines_file = "lines.txt";

/// "pitch.cl:141" by the address of the instruction from which on it holds; empty where instructions have no line.
using Places = std::map<std::uint64_t, std::string>;

/// Empty where there is none.
std::string place_at(const Places& places, std::uint64_t address);

/// Read from what objdump prints with --dwarf=decodedline. Folders are left out.
Places decoded_lines(std::string_view table);

/// The places of an ELF file's line information, at the addresses that the same functions have in `ran`; none where
/// there is none or no objdump. Nothing where `function` is not in both with the same bytes.
std::optional<Places> places_of_same_code(ByteSpan lined, ByteSpan ran, const std::string& function);

/// The lines of a text, each with the place that the #line directives give it: "pitch.cl:141", "    for (…". A
/// directive has none.
std::vector<std::pair<std::string, std::string>> lines_with_places(const std::string& source);

/// The text of lines.txt, and what it says.
std::string lines_text(const Places& places);
Places lines_in(const std::string& text);

}  // namespace cllab::inspect
