#include "inspect/code/code.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "core/text.hpp"

namespace cllab::inspect {

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

Instruction instruction_of(std::string text) {
    Instruction i;
    std::string_view rest = i.text = std::move(text);
    const auto word = [&] {
        const auto end = std::min(rest.find_first_of(" \t"), rest.size());
        std::string out(rest.substr(0, end));
        rest.remove_prefix(std::min(rest.find_first_not_of(" \t", end), rest.size()));
        return out;
    };
    if (rest.starts_with('@')) i.guard = word();
    i.mnemonic = word();
    i.operands = trim(rest);
    return i;
}

std::vector<Function> functions_of(std::string_view text,
                                   const std::function<std::string_view(std::string_view line)>& name_of,
                                   const std::function<std::optional<Instruction>(std::string_view line)>& read) {
    std::vector<Function> functions;
    for (const auto line : lines_of(text)) {
        if (const auto name = name_of(line); !name.empty())
            functions.push_back({std::string(name), {}});
        else if (functions.empty())
            continue;
        else if (auto instruction = read(line))
            functions.back().instructions.push_back(std::move(*instruction));
    }
    return functions;
}

std::uint64_t number_at(std::string_view text, std::size_t at) {
    std::uint64_t value = 0;
    if (at < text.size()) std::from_chars(text.data() + at, text.data() + text.size(), value);
    return value;
}

std::optional<unsigned> whole_number(std::string_view text) {
    unsigned out = 0;
    const auto end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, out);
    return !text.empty() && parsed.ec == std::errc{} && parsed.ptr == end ? std::optional(out) : std::nullopt;
}

bool is_hex(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isxdigit(c); });
}

std::optional<std::uint64_t> leading_hex(std::string_view text) {
    if (text.starts_with("0x")) text.remove_prefix(2);
    std::uint64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (parsed.ec != std::errc{}) return std::nullopt;
    return value;
}

std::optional<std::uint64_t> listed_address(std::string_view line) {
    const auto first = line.find_first_not_of(' '), colon = line.find(':');
    if (first == std::string_view::npos || colon == std::string_view::npos || colon <= first) return std::nullopt;
    return leading_hex(line.substr(first, colon - first));
}

std::string_view function_header(std::string_view line) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    const auto open = line.find(" <");
    if (open == std::string_view::npos || open == 0 || !line.ends_with(">:")) return {};
    if (!is_hex(line.substr(0, open))) return {};
    return line.substr(open + 2, line.size() - open - 4);
}

}  // namespace cllab::inspect
