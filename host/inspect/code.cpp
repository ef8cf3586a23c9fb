#include "inspect/code.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace cllab::inspect {

std::vector<Function> parse_listing(Isa isa, std::string_view text) {
    switch (isa) {
        case Isa::x86:
            return parse_x86(text);
        case Isa::gcn:
            return parse_gcn(text);
        case Isa::sass:
            return parse_sass(text);
        case Isa::ptx:
            return parse_ptx(text);
        case Isa::none:
        case Isa::other_host:
        case Isa::spirv:
        case Isa::llvm_ir:
            break;
    }
    return {};
}

Class classify(Isa isa, const Instruction& instruction) {
    switch (isa) {
        case Isa::x86:
            return classify_x86(instruction);
        case Isa::gcn:
            return classify_gcn(instruction);
        case Isa::sass:
            return classify_sass(instruction);
        case Isa::ptx:
            return classify_ptx(instruction);
        case Isa::none:
        case Isa::other_host:
        case Isa::spirv:
        case Isa::llvm_ir:
            break;
    }
    return {"other"};
}

const char* counting_rule(Isa isa) {
    switch (isa) {
        case Isa::x86:
            return "Every instruction is in one class, by the widest vector register it names; loads and stores count "
                   "operands in memory by their width, so an add with a memory operand is in vector_256 and in "
                   "load_256; "
                   "stack_ is an address from rsp, or from rbp in a function that makes it its frame pointer; nop is "
                   "padding and not counted.";
        case Isa::gcn:
            return "Every instruction is in one class; v and s count mnemonics beginning with v_ and s_, waits and "
                   "branches "
                   "among the s_ as in the 2015 article; memory widths are per work-item (vector) or per wave "
                   "(scalar); padding "
                   "behind the last s_endpgm is not counted.";
        case Isa::sass:
            return "Every instruction is in one class; address is 64-bit integer arithmetic (IMAD.WIDE, LEA, carry "
                   "chains), "
                   "which compilers use for addresses; uniform is the scalar data path (U…, R2UR); memory widths are "
                   "per "
                   "work-item; NOP padding is not counted.";
        case Isa::ptx:
            return "Every statement is in one class, before ptxas schedules and merges them; address is 64-bit integer "
                   "arithmetic "
                   "and mul.wide; memory widths are per work-item.";
        case Isa::none:
        case Isa::other_host:
        case Isa::spirv:
        case Isa::llvm_ir:
            break;
    }
    return "This listing is not counted.";
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::optional<std::uint64_t> leading_hex(std::string_view text) {
    if (text.starts_with("0x")) text.remove_prefix(2);
    std::uint64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (parsed.ec != std::errc{}) return std::nullopt;
    return value;
}

std::string_view function_header(std::string_view line) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    const auto open = line.find(" <");
    if (open == std::string_view::npos || open == 0 || !line.ends_with(">:")) return {};
    const auto digits = line.substr(0, open);
    if (!std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isxdigit(c); })) return {};
    return line.substr(open + 2, line.size() - open - 4);
}

}  // namespace cllab::inspect
