#include "inspect/code/code.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

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
