#include "inspect/tools/source_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/text.hpp"
#include "inspect/binary/binary.hpp"
#include "inspect/code/code.hpp"
#include "inspect/isa/isa.hpp"

namespace cllab::inspect {
namespace {

std::string_view without_folders(std::string_view path) { return path.substr(path.rfind('/') + 1); }

ByteSpan bytes_of(const Elf& elf, const ElfSymbol& symbol) {
    if (symbol.section >= elf.sections.size()) return {};
    const auto& section = elf.sections[symbol.section];
    if (section.name != ".text") return {};
    return slice(section.data, symbol.value - section.address, symbol.size).value_or(ByteSpan{});
}

bool is_same(const Elf& one, const ElfSymbol& here, const Elf& other, const ElfSymbol& there) {
    const auto bytes = bytes_of(one, here);
    return !bytes.empty() && std::ranges::equal(bytes, bytes_of(other, there));
}

constexpr const char* title = "The source line of isa.txt's instructions from an address on.";

}  // namespace

std::string place_at(const Places& places, std::uint64_t address) {
    const auto next = places.upper_bound(address);
    return next == places.begin() ? "" : std::prev(next)->second;
}

Places decoded_lines(std::string_view table) {
    Places out;
    for (const auto line :
         lines_of(table)) {  // "pitch.cl     141      0x1b0      x"; at the end of a sequence the number is -
        const auto at = line.rfind(" 0x"), number_end = line.find_last_not_of(' ', at);
        if (at == line.npos || number_end == line.npos) continue;
        const auto number_at = line.find_last_of(' ', number_end) + 1;
        const auto number = line.substr(number_at, number_end + 1 - number_at);
        const auto address = leading_hex(line.substr(at + 1));
        if (!address || (number != "-" && !whole_number(number))) continue;
        if (number == "-")
            out.emplace(*address, "");
        else
            out[*address] = number == "0" ? "" : concat(without_folders(trim(line.substr(0, number_at))), ":", number);
    }
    return out;
}

std::optional<Places> places_of_same_code(ByteSpan lined, ByteSpan ran, const std::string& function) {
    const auto ours = read_elf(lined), theirs = read_elf(ran);
    if (!ours || !theirs) return std::nullopt;
    const auto starts_at_0_too = [](const ElfSection& s) { return s.name.starts_with(".text.") && !s.data.empty(); };
    if (std::ranges::any_of(ours->sections, starts_at_0_too)) return Places{};
    const auto printed = run_on_file({}, {{{"objdump"}, {"--dwarf=decodedline", "--wide"}}}, "program.so", lined, {});
    const auto places = decoded_lines(printed.text);
    Places out;
    bool is_there = false;
    for (const auto& symbol : ours->symbols) {
        const auto* other = symbol.size == 0 ? nullptr : theirs->symbol(symbol.name);
        if (!other || !is_same(*ours, symbol, *theirs, *other)) continue;
        Places mine{{other->value, place_at(places, symbol.value)}};
        for (auto at = places.lower_bound(symbol.value); at != places.end() && at->first - symbol.value < symbol.size;
             ++at)
            mine[at->first - symbol.value + other->value] = at->second;
        const bool has_lines = std::ranges::any_of(mine, [](const auto& row) { return !row.second.empty(); });
        if (symbol.name == function && !has_lines) return Places{};
        is_there = is_there || symbol.name == function;
        if (!has_lines) continue;
        mine.merge(out);
        out = std::move(mine);
        out.emplace(other->value + other->size, "");
    }
    return is_there ? std::optional(out) : std::nullopt;
}

std::vector<std::pair<std::string, std::string>> lines_with_places(const std::string& source) {
    std::vector<std::pair<std::string, std::string>> out;
    std::string file = "<kernel>";
    std::uint64_t number = 0;
    for (const auto& line : split(source, '\n')) {
        ++number;
        if (line.starts_with("#line ")) {
            const auto open = line.find('"'), close = line.rfind('"');
            if (const auto next = number_at(line, 6); next > 0) number = next - 1;
            if (open < close) file = without_folders(std::string_view(line).substr(open + 1, close - open - 1));
            out.emplace_back("", line);
        } else {
            out.emplace_back(file + ":" + std::to_string(number), line);
        }
    }
    return out;
}

std::string lines_text(const Places& places) {
    std::string out = concat(title, "\n");
    for (const auto& [address, place] : places) out += fmt::format("{:x} {}\n", address, place);
    return out;
}

Places lines_in(const std::string& text) {
    Places out;
    for (const auto line : lines_of(text)) {
        const auto space = line.find(' ');
        const auto address = leading_hex(line.substr(0, space));
        if (address && space != line.npos) out.emplace(*address, line.substr(space + 1));
    }
    return out;
}

}  // namespace cllab::inspect
