#include "core/program_text.hpp"

#include <algorithm>
#include <array>

namespace cllab {
namespace {

constexpr std::string_view first_line = "#error a compiled program, which is no text for a compiler\n";
constexpr std::string_view digits = "0123456789abcdef";
constexpr std::size_t bytes_in_line = 50;

}  // namespace

bool names_program(std::string_view path) {
    constexpr std::array<std::string_view, 14> extensions{".spv",   ".ptx", ".cubin", ".co",      ".poclbin",
                                                          ".elf",   ".ar",  ".zebin", ".rusticl", ".clover",
                                                          ".plist", ".bif", ".bc",    ".bin"};
    return std::ranges::any_of(extensions, [&](auto extension) { return path.ends_with(extension); });
}

bool is_spirv(std::string_view program) { return program.starts_with("\x03\x02\x23\x07"); }

bool is_ptx(std::string_view program) {
    return program.find(".version ") < program.find(".target ") && program.find(".target ") != program.npos;
}

std::string text_of_program(std::string_view program) {
    std::string out(first_line);
    out.reserve(out.size() + program.size() * 2 + program.size() / bytes_in_line + 1);
    for (std::size_t i = 0; i < program.size(); ++i) {
        const auto byte = static_cast<unsigned char>(program[i]);
        out += digits[byte >> 4];
        out += digits[byte & 15];
        if (i % bytes_in_line == bytes_in_line - 1) out += '\n';
    }
    return out + '\n';
}

std::optional<std::string> program_of_text(std::string_view text) {
    if (text.starts_with("#line ")) text.remove_prefix(std::min(text.size(), text.find('\n') + 1));
    if (!text.starts_with(first_line)) return std::nullopt;
    std::string out;
    std::optional<std::size_t> half;
    for (const char c : text.substr(first_line.size())) {
        const auto value = digits.find(c);
        if (value == digits.npos) continue;
        if (half) out += static_cast<char>(*half << 4 | value);
        half = half ? std::nullopt : std::optional(value);
    }
    return out;
}

}  // namespace cllab
