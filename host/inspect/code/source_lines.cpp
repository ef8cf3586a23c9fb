#include "inspect/code/source_lines.hpp"

#include "core/text.hpp"
#include "inspect/code/code.hpp"
#include "inspect/isa/isa.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::inspect {
namespace {

std::string_view without_folder(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// "pitch.cl:141" of "; /tmp/x/pitch.cl:141" (llvm-objdump) and "/tmp/x/pitch.cl:141 (discriminator 2)" (objdump);
/// empty for any other line.
std::string place_in(std::string_view line) {
    if (line.starts_with("; ")) line.remove_prefix(2);
    if (const auto more = line.find(" (discriminator"); more != std::string_view::npos) line = line.substr(0, more);
    const auto colon = line.rfind(':');
    if (line.empty() || line.front() == ' ' || colon == std::string_view::npos || colon + 1 == line.size()) return {};
    const auto number = whole_number(line.substr(colon + 1)).value_or(0);
    return number == 0 ? "" : std::string(without_folder(line.substr(0, colon))) + ":" + std::to_string(number);
}

}  // namespace

std::map<std::uint64_t, std::string> source_places(std::string_view listing) {
    std::map<std::uint64_t, std::string> out;
    std::string place;
    for (const auto line : lines_of(listing)) {
        if (const auto found = place_in(line); !found.empty()) place = found;
        if (!function_header(line).empty()) place.clear();
        if (!line.starts_with(' ') || place.empty()) continue;
        if (const auto address = listed_address(line)) out.emplace(*address, place);
    }
    return out;
}

std::map<std::uint64_t, std::string> source_places_of(ByteSpan host_elf) {
    const std::vector<std::string> arguments{"-d", "-l", "--no-show-raw-insn"};
    return source_places(
        run_on_file({}, {{llvm_names("llvm-objdump"), arguments}, {{"objdump"}, arguments}}, "program.so", host_elf, {})
            .text);
}

std::map<std::string, std::string> lines_by_place(const std::string& source) {
    std::map<std::string, std::string> out;
    std::string file = "<kernel>";
    std::uint64_t number = 0;
    for (const auto& line : split(source, '\n')) {
        ++number;
        if (line.starts_with("#line ")) {
            const auto open = line.find('"'), close = line.rfind('"');
            if (const auto next = number_at(line, 6); next > 0) number = next - 1;
            if (open < close) file = without_folder(std::string_view(line).substr(open + 1, close - open - 1));
            continue;
        }
        out[file + ":" + std::to_string(number)] = line;
    }
    return out;
}

}  // namespace cllab::inspect
