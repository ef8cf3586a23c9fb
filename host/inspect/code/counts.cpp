#include "inspect/code/counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/text.hpp"
#include "inspect/isa/isa.hpp"

namespace cllab::inspect {
namespace {

using nlohmann::json;

json to_json(const InstructionSet& isa, const Counts& counts) {
    json out = {{"instructions", counts.instructions}, {"classes", counts.classes}, {"memory", counts.memory}};
    if (!isa.virtual_machine) out["bytes"] = counts.bytes;
    for (const auto& mark : isa.marks) out[mark.key] = counts.mark(mark.key);
    return out;
}

/// The scalar remainder beside a vector body may have some instructions more, but each does less work.
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
    for (const auto& access : c.memory) ++memory[access];
    for (const auto* mark : c.marks) ++marks[mark];
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
        if (loop.parent >= 0) stats.loops[static_cast<std::size_t>(loop.parent)].innermost = false;  // it came before
    }
    for (const auto& block : graph.blocks) {
        if (block.loops.empty()) continue;
        LoopStats& loop = stats.loops[block.loops.back()];  // whose iteration it belongs to
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

std::string summary(const FunctionStats& stats) {
    if (stats.code.instructions.empty()) return {};
    const auto bytes = stats.isa->virtual_machine ? "" : concat(", ", stats.total.bytes, " bytes");
    auto text = concat(stats.code.name, bytes, ", ", one_line_counts(*stats.isa, stats.total), "\n");
    for (std::size_t i = 0; i < stats.loops.size(); ++i) {
        const auto& loop = stats.loops[i];
        text += std::string(2 * loop.depth, ' ') + (loop.innermost ? "innermost loop at " : "loop at ") + loop.header +
                (static_cast<int>(i) == stats.shown ? " (shown)" : "") + ", one iteration " +
                one_line_counts(*stats.isa, loop.own) + "\n";
    }
    if (stats.loops.empty()) text += "  no loop\n";
    if (stats.irreducible_edges)
        text +=
            concat("  ", stats.irreducible_edges, " jumps back into a cycle with two entries, not counted as loops\n");
    return text;
}

}  // namespace cllab::inspect
