#include "inspect/code/code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/text.hpp"
#include "inspect/isa/isa.hpp"

namespace cllab::inspect {
namespace {

/// The function that is called or jumped to, also if the target is inside it.
std::string_view callee(std::string_view line) {
    const bool instruction = line.find("call") != std::string_view::npos || line.find("jmp") != std::string_view::npos;
    return instruction ? named_target(line) : std::string_view{};
}

struct FunctionText {
    std::string_view name;
    std::vector<std::string_view> lines;
};

/// Whether the text has only hexadecimal digits.
bool is_hex(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isxdigit(c); });
}

constexpr std::size_t most_aligned = 3000;
constexpr std::uint32_t alone = 2;

/// Cost of pairing two instructions on one line. Different mnemonics cost more than two unpaired lines.
std::uint32_t together(const Instruction& a, const Instruction& b) {
    if (a.text == b.text) return 0;
    return a.mnemonic == b.mnemonic ? 1 : 2 * alone + 1;
}

}  // namespace

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
    const auto digits = line.substr(first, colon - first);
    return is_hex(digits) ? leading_hex(digits) : std::nullopt;
}

std::string_view function_header(std::string_view line) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    const auto open = line.find(" <");
    if (open == std::string_view::npos || open == 0 || !line.ends_with(">:")) return {};
    if (!is_hex(line.substr(0, open))) return {};
    return line.substr(open + 2, line.size() - open - 4);
}

// Cuts one function out of a disassembler's text of a whole file.

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

std::vector<DiffLine> align(const std::vector<Instruction>& left, const std::vector<Instruction>& right) {
    const std::size_t n = std::min(left.size(), most_aligned), m = std::min(right.size(), most_aligned);
    // cost[i][j]: the best alignment of left[i..] with right[j..].
    std::vector<std::uint32_t> cost((n + 1) * (m + 1));
    const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& { return cost[i * (m + 1) + j]; };
    for (std::size_t i = n + 1; i-- > 0;)
        for (std::size_t j = m + 1; j-- > 0;) {
            if (i == n || j == m) {
                at(i, j) = static_cast<std::uint32_t>((n - i) + (m - j)) * alone;
                continue;
            }
            at(i, j) =
                std::min({at(i + 1, j + 1) + together(left[i], right[j]), at(i + 1, j) + alone, at(i, j + 1) + alone});
        }
    std::vector<DiffLine> lines;
    std::size_t i = 0, j = 0;
    while (i < n || j < m) {
        if (i < n && j < m && at(i, j) == at(i + 1, j + 1) + together(left[i], right[j])) {
            lines.push_back({left[i].text == right[j].text ? ' ' : '~', left[i].text, right[j].text});
            ++i, ++j;
        } else if (i < n && at(i, j) == at(i + 1, j) + alone) {
            lines.push_back({'<', left[i++].text, {}});
        } else {
            lines.push_back({'>', {}, right[j++].text});
        }
    }
    if (left.size() > most_aligned || right.size() > most_aligned)
        lines.push_back({'~', "cut at 3000 instructions", "cut at 3000 instructions"});
    return lines;
}

namespace {

using nlohmann::json;

json to_json(const InstructionSet& isa, const Counts& counts) {
    json out = {{"instructions", counts.instructions}, {"classes", counts.classes}, {"memory", counts.memory}};
    if (!isa.virtual_machine) out["bytes"] = counts.bytes;
    for (const auto& mark : isa.marks) out[mark.key] = counts.mark(mark.key);
    return out;
}

/// The scalar remainder of a vector loop may have a few more instructions, but each does less work.
int loop_to_show(const std::vector<LoopStats>& loops) {
    int best = -1;
    unsigned most = 0;
    for (std::size_t i = 0; i < loops.size(); ++i)
        if (loops[i].innermost && loops[i].own.work > most) best = static_cast<int>(i), most = loops[i].own.work;
    return best;
}

}  // namespace

std::string listed(const std::map<std::string, unsigned>& counts) {
    return join(counts, ", ", [](const auto& one) { return one.first + " " + std::to_string(one.second); });
}

unsigned Counts::mark(const std::string& key) const {
    const auto found = marks.find(key);
    return found == marks.end() ? 0 : found->second;
}

void Counts::add(const InstructionSet& isa, const Instruction& instruction) {
    const Class c = isa.classify(instruction);
    if (c.name == "padding") return;
    ++instructions;
    bytes += instruction.bytes;
    work += c.work;
    ++classes[c.name];
    ++mnemonics[instruction.mnemonic];
    for (const auto& access : c.memory) ++memory[access];
    for (const auto* mark : c.marks) ++marks[mark];
}

bool nearly_same(const Counts& a, const Counts& b) {
    unsigned shared = 0;
    for (const auto& [mnemonic, times] : a.mnemonics)
        if (const auto other = b.mnemonics.find(mnemonic); other != b.mnemonics.end())
            shared += std::min(times, other->second);
    return a.memory == b.memory && 20 * shared >= 19 * std::max(a.instructions, b.instructions);
}

std::string address_text(const InstructionSet& isa, std::uint64_t address) {
    return isa.virtual_machine ? "statement " + std::to_string(address) : fmt::format("{:#x}", address);
}

std::uint64_t end_of(const Instruction& instruction) { return instruction.address + std::max(1u, instruction.bytes); }

model::HotBlock counted_block(const InstructionSet& isa, const Function& function, const FlowGraph& graph,
                              const Block& block) {
    const auto& code = function.instructions;
    Counts counts;
    model::HotBlock out;
    for (auto i = block.first; i < block.end; ++i) {
        counts.add(isa, code[i]);
        if (isa.is_vector) out.elements[model::HotBlock::vector] += isa.is_vector(code[i]);
        if (isa.is_part_store && isa.is_part_store(code[i], function, block))
            ++out.elements[model::HotBlock::part_store];
        if (isa.is_uncountable && isa.is_uncountable(code[i])) ++out.elements[model::HotBlock::uncounted];
        if (!isa.arithmetic || (isa.is_call && isa.is_call(code[i]))) continue;
        if (code[i].mnemonic == "div" || code[i].mnemonic == "idiv") ++out.elements["division"];
        using What = model::Declared::What;
        for (const auto& [name, declared] : {std::pair{"float", model::Declared{What::function, 1, 16}},
                                             {"product", model::Declared{What::integer_multiply, 1, 32}}})
            if (const double elements = isa.arithmetic(code[i], declared); elements > 0) out.elements[name] += elements;
    }
    out.function = function.name;
    out.begin = code[block.first].address;
    out.end = end_of(code[block.end - 1]);
    out.instructions = counts.instructions;
    out.classes = std::move(counts.classes);
    out.memory = std::move(counts.memory);
    for (const auto k : block.loops) out.loops.push_back(code[graph.blocks[graph.loops[k].header].first].address);
    return out;
}

FunctionStats count_function(const InstructionSet* isa, std::string_view text, const std::string& entry) {
    FunctionStats stats;
    if (!isa || !isa->parse) return stats;
    stats.isa = isa;
    auto functions = isa->parse(text);
    auto chosen = std::ranges::find(functions, entry, &Function::name);
    if (chosen == functions.end()) chosen = functions.begin();
    if (chosen == functions.end()) return stats;
    stats.code = std::move(*chosen);
    const auto& code = stats.code.instructions;
    for (const auto& instruction : code) stats.total.add(*isa, instruction);

    const FlowGraph graph = analyse_flow(stats.code);
    stats.irreducible_edges = graph.irreducible_edges;
    for (const auto& loop : graph.loops) {
        const auto header = code[graph.blocks[loop.header].first].address;
        stats.loops.push_back({address_text(*isa, header), loop.depth, loop.parent});
        // The parent comes before its inner loops.
        if (loop.parent >= 0) stats.loops[static_cast<std::size_t>(loop.parent)].innermost = false;
    }
    for (const auto& block : graph.blocks) {
        if (block.loops.empty()) continue;
        LoopStats& loop = stats.loops[block.loops.back()];  // the loop whose iteration has the block
        for (std::size_t i = block.first; i < block.end; ++i) {
            loop.own.add(*isa, code[i]);
            loop.body.push_back(i);
        }
    }
    stats.shown = loop_to_show(stats.loops);
    return stats;
}

json to_json(const FunctionStats& stats) {
    json out = to_json(*stats.isa, stats.total);
    out["function"] = stats.code.name;
    out["isa"] = stats.isa->name;
    out["rule"] = stats.isa->rule;
    out["loops"] = json::array();
    for (const auto& loop : stats.loops) {
        json entry = to_json(*stats.isa, loop.own);
        entry["header"] = loop.header;
        entry["depth"] = loop.depth;
        entry["innermost"] = loop.innermost;
        if (loop.parent >= 0) entry["parent"] = loop.parent;
        out["loops"].push_back(std::move(entry));
    }
    if (stats.shown >= 0) out["shown_loop"] = stats.shown;
    if (stats.irreducible_edges) out["irreducible_edges"] = stats.irreducible_edges;
    return out;
}

std::string shown_place(const FunctionStats& stats) {
    return stats.shown < 0 ? "whole kernel (no loop)"
                           : "innermost loop at " + stats.loops[static_cast<std::size_t>(stats.shown)].header;
}

std::string one_line_counts(const InstructionSet& isa, const Counts& counts) {
    std::string text = std::to_string(counts.instructions) + " instructions", behind;
    for (const auto& mark : isa.marks) {
        const std::string shown = std::string(mark.label) + " " + std::to_string(counts.mark(mark.key));
        if (mark.always)
            text += ", " + shown;
        else if (counts.mark(mark.key) > 0)
            behind += "; " + shown;
    }
    text += ": " + listed(counts.classes);
    if (!counts.memory.empty()) text += "; " + listed(counts.memory);
    return text + behind;
}

std::vector<std::vector<std::size_t>> loop_groups(const FunctionStats& stats) {
    std::vector<std::vector<std::size_t>> out;
    for (std::size_t i = 0; i < stats.loops.size(); ++i) {
        const auto& loop = stats.loops[i];
        const auto group = std::ranges::find_if(out, [&](const auto& others) {
            const auto& first = stats.loops[others.front()];
            return loop.innermost && first.innermost && loop.parent == first.parent && nearly_same(loop.own, first.own);
        });
        auto& of = group == out.end() ? out.emplace_back() : *group;
        of.insert(static_cast<int>(i) == stats.shown ? of.begin() : of.end(), i);
    }
    return out;
}

std::string summary(const FunctionStats& stats) {
    if (stats.code.instructions.empty()) return {};
    const auto bytes = stats.isa->virtual_machine ? "" : concat(", ", stats.total.bytes, " bytes");
    auto text = concat(stats.code.name, bytes, ", ", one_line_counts(*stats.isa, stats.total), "\n");
    for (const auto& group : loop_groups(stats)) {
        const auto& loop = stats.loops[group.front()];
        text +=
            concat(std::string(2 * loop.depth, ' '), loop.innermost ? "innermost loop at " : "loop at ", loop.header,
                   model::and_like(group.size() - 1), static_cast<int>(group.front()) == stats.shown ? " (shown)" : "",
                   ", one iteration ", one_line_counts(*stats.isa, loop.own), "\n");
    }
    if (stats.loops.empty()) text += "  no loop\n";
    if (stats.irreducible_edges)
        text +=
            concat("  ", stats.irreducible_edges, " jumps back into a cycle with two entries, not counted as loops\n");
    return text;
}

}  // namespace cllab::inspect
