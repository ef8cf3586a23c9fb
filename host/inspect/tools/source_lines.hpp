// Source lines of a CPU's machine code: the line of the text that each instruction was compiled from. Only a build with
// line information has them, and the measured build has none. So the kernel is built again, and its lines are used if
// that build has the same bytes (`places_of_same_code`).
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

/// The file of a dump with these lines.
inline constexpr const char* lines_file = "lines.txt";

/// Places such as "pitch.cl:141" by the address of the first instruction; empty for instructions without a line.
using Places = std::map<std::uint64_t, std::string>;

/// The place at an address; empty if there is none.
std::string place_at(const Places& places, std::uint64_t address);

/// Reads what objdump prints with --dwarf=decodedline. Folders are dropped.
Places decoded_lines(std::string_view table);

/// The places in an ELF file's line information, at the addresses that the same functions have in `ran`. Empty without
/// line information or objdump. nullopt if `function` is not in both files with the same bytes.
std::optional<Places> places_of_same_code(ByteSpan lined, ByteSpan ran, const std::string& function);

/// The lines of a text, each with its place by the #line directives: "pitch.cl:141", " for (…". A directive has no
/// place.
std::vector<std::pair<std::string, std::string>> lines_with_places(const std::string& source);

/// lines.txt: writes its text, and reads it.
std::string lines_text(const Places& places);
Places lines_in(const std::string& text);

}  // namespace cllab::inspect
