// Cutting one function out of the text that a disassembler printed for a whole file.
#include <map>
#include <set>
#include <string_view>

#include "core/text.hpp"
#include "inspect/code/code.hpp"

namespace cllab::inspect {
namespace {

/// The function called or jumped to; a target inside a function names it too.
std::string_view callee(std::string_view line) {
    const bool instruction = line.find("call") != std::string_view::npos || line.find("jmp") != std::string_view::npos;
    return instruction ? named_target(line) : std::string_view{};
}

struct FunctionText {
    std::string_view name;
    std::vector<std::string_view> lines;
};

}  // namespace

std::string_view named_target(std::string_view text) {
    const auto open = text.rfind('<'), close = text.rfind('>');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
    const auto target = text.substr(open + 1, close - open - 1);
    return target.substr(0, target.find_first_of("+-"));
}

std::string_view behind_plt(std::string_view name) {
    return name.ends_with("@plt") ? name.substr(0, name.size() - 4) : name;
}

std::string cut_function(const std::string& listing, const std::string& function) {
    std::vector<FunctionText> blocks;
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
        const FunctionText& block = blocks[todo.back()];
        todo.pop_back();
        for (const auto line : block.lines) {
            const auto called = callee(line);
            for (const auto name : {called, behind_plt(called)}) {
                const auto found = index.find(name);
                if (found != index.end() && wanted.insert(found->second).second) todo.push_back(found->second);
            }
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
