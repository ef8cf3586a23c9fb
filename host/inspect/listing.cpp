// Cutting one function out of the text that a disassembler printed for a whole file.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include "core/text.hpp"
#include "inspect/disassemble.hpp"

namespace cllab::inspect {
namespace {

/// "0000000000001160 <name>:" gives name, anything else nothing. GNU and LLVM print the same header.
std::string_view function_header(std::string_view line) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    const auto open = line.find(" <");
    if (open == std::string_view::npos || open == 0 || !line.ends_with(">:")) return {};
    const auto digits = line.substr(0, open);
    if (!std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isxdigit(c); })) return {};
    return line.substr(open + 2, line.size() - open - 4);
}

/// The function called or jumped to in "call 1000 <foo>" or "jmp 0x1000 <foo@plt>"; a target inside a function
/// ("<foo+0x20>") names foo too.
std::string_view callee(std::string_view line) {
    const auto instruction = line.find("call") != std::string_view::npos || line.find("jmp") != std::string_view::npos;
    const auto open = line.rfind('<'), close = line.rfind('>');
    if (!instruction || open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
    const auto target = line.substr(open + 1, close - open - 1);
    return target.substr(0, target.find_first_of("+-"));
}

struct Block {
    std::string_view name;
    std::vector<std::string_view> lines;
};

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

}  // namespace

std::string cut_function(const std::string& listing, const std::string& function) {
    std::vector<Block> blocks;
    std::map<std::string_view, std::size_t> index;
    for (const auto line : lines_of(listing)) {
        if (const auto header = function_header(line); !header.empty()) {
            index.emplace(header, blocks.size());
            blocks.push_back({header, {line}});
        } else if (!blocks.empty()) {
            blocks.back().lines.push_back(line);
        }
    }
    if (!index.contains(function)) return listing;

    std::set<std::size_t> wanted{index[function]};
    std::vector<std::size_t> todo{index[function]};
    while (!todo.empty()) {
        const Block& block = blocks[todo.back()];
        todo.pop_back();
        for (const auto line : block.lines) {
            const auto found = index.find(callee(line));
            if (found != index.end() && wanted.insert(found->second).second) todo.push_back(found->second);
        }
    }
    std::string text;
    for (const auto i : wanted) {
        while (!blocks[i].lines.empty() && trim(blocks[i].lines.back()).empty()) blocks[i].lines.pop_back();
        for (const auto line : blocks[i].lines) text.append(line).append("\n");
        text += "\n";
    }
    return text;
}

std::string cut_sass(const std::string& listing, const std::string& function) {
    std::string text;
    bool inside = false;
    for (const auto line : lines_of(listing)) {
        if (line.starts_with("//---")) {
            inside = line.find(" .text." + function + " ") != std::string_view::npos;
        } else if (const auto at = line.find("Function : "); at != std::string_view::npos) {
            inside = trim(line.substr(at + 11)) == function;
        }
        if (inside) text.append(line).append("\n");
    }
    return text.empty() ? listing : text;
}

}  // namespace cllab::inspect
