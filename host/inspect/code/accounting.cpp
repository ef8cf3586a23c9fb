// Hot code by accounting: the code that does the declared work, without samples.
#include <algorithm>
#include <cmath>

#include "inspect/code/analysis.hpp"
#include "inspect/code/hot_code.hpp"
#include "inspect/isa/isa.hpp"

namespace cllab::inspect {
namespace {

constexpr double tolerance = 0.02;

bool about(double a, double b) { return std::abs(a - b) <= tolerance * b; }

/// A loop's own body, or the code outside all loops.
struct Candidate {
    std::vector<std::size_t> blocks;
    double stored = 0, loaded = 0, multiply_adds = 0;
    unsigned instructions = 0;
    bool countable = true;  ///< every access has a width

    void add(const InstructionSet& isa, const Instruction& i) {
        using What = model::Declared::What;
        ++instructions;
        for (const auto& access : isa.classify(i).memory)
            countable = countable && !access.ends_with("_indexed") && !access.ends_with("_unsized") &&
                        access.find("atomic") == std::string::npos;
        stored += elements_of(isa, i, {What::store, 1, 8});
        loaded += elements_of(isa, i, {What::load, 1, 8});
        multiply_adds += elements_of(isa, i, {What::multiply_add, 1, 32});
    }

    /// How often a work-item executes it; nullopt if it does not account for the declared work.
    std::optional<double> passes(const DeclaredPerItem& d, bool once) const {
        const bool computes = d.multiply_adds > 0;
        if (blocks.empty() || !countable || (computes ? multiply_adds <= 0 : stored <= 0 || d.stored <= 0))
            return std::nullopt;
        const double times = once ? 1 : computes ? d.multiply_adds / multiply_adds : d.stored / stored;
        if (times < 1 - tolerance || !about(times, std::round(times))) return std::nullopt;
        if (computes && !about(times * multiply_adds, d.multiply_adds)) return std::nullopt;
        if (stored > 0 && !about(times * stored, d.stored)) return std::nullopt;
        if (!computes && times * loaded < (1 - tolerance) * d.loaded) return std::nullopt;
        return times;
    }
};

/// Convergence barriers hide jumps only in some functions of SASS.
bool loops_are_known(const FunctionStats& stats, const FlowGraph& graph) {
    const auto& isa = *stats.isa;
    const auto seen = isa.registers ? isa.registers->jumps_are_seen : nullptr;
    const bool all_are_seen = !isa.hides_jumps || (seen && seen(stats.code));
    const auto goes_nowhere = [](const Instruction& i) {
        return (i.flow == Flow::branch || i.flow == Flow::jump) && i.targets.empty();
    };
    return all_are_seen && graph.irreducible_edges == 0 && std::ranges::none_of(stats.code.instructions, goes_nowhere);
}

bool encloses(const FlowGraph& graph, std::size_t outer, std::size_t inner) {
    for (int at = graph.loops[inner].parent; at >= 0; at = graph.loops[static_cast<std::size_t>(at)].parent)
        if (static_cast<std::size_t>(at) == outer) return true;
    return false;
}

}  // namespace

model::Hot account(const Analysis& analysis, const DeclaredPerItem& declared) {
    model::Hot out;
    const auto* stats = analysis.best();
    if (!stats) return unknown(out, "there is no disassembly to count");
    for (std::size_t i = 0; i < analysis.counts.size(); ++i)
        if (&analysis.counts[i] == stats) out.code = analysis.disassembly.listings[i].title;
    const auto& isa = *stats->isa;
    const auto& code = stats->code.instructions;
    const auto graph = analyse_flow(stats->code);
    if (isa.global_spaces.empty())
        return unknown(out, "the device has one memory, so local accesses look like any other");
    if (!loops_are_known(*stats, graph)) return unknown(out, "not all of its loops are known");
    if (std::ranges::any_of(code, [&](const auto& i) { return isa.is_call && isa.is_call(i); }))
        return unknown(out, "it calls functions");

    std::vector<Candidate> candidates(graph.loops.size() + 1);  // the last one: code outside all loops
    for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
        const auto& block = graph.blocks[b];
        auto& candidate = block.loops.empty() ? candidates.back() : candidates[block.loops.back()];
        candidate.blocks.push_back(b);
        for (auto i = block.first; i < block.end; ++i) candidate.add(isa, code[i]);
    }
    // Work elsewhere may be an alternative, such as a scalar loop for the edge.
    const auto does_all = [&](std::size_t k) {
        const auto amount = [&](std::size_t c) {
            return declared.multiply_adds > 0 ? candidates[c].multiply_adds : candidates[c].stored;
        };
        const double little = tolerance * (declared.multiply_adds > 0 ? declared.multiply_adds : declared.stored);
        for (std::size_t other = 0; other < candidates.size(); ++other)
            if (other != k && amount(other) > (other == graph.loops.size() ? little : 0)) return false;
        return true;
    };
    const auto straight = graph.loops.size();
    std::size_t found = candidates.size();
    double passes = 0;
    for (std::size_t k = 0; k < candidates.size(); ++k)
        if (const auto times = candidates[k].passes(declared, k == straight); times && does_all(k))
            found = k, passes = *times;
    if (found == candidates.size()) return unknown(out, "no single loop or path accounts for the declared work");
    // The other code may still run longer: a loop that reads what other code stores, or much code before a short loop.
    // How often another loop runs is not known, but a loop around this one runs no more often than this one.
    const auto& hottest = candidates[found];
    for (std::size_t other = 0; other < straight; ++other) {
        if (other == found || candidates[other].instructions == 0) continue;
        if (found == straight || !encloses(graph, other, found) ||
            candidates[other].instructions > hottest.instructions)
            return unknown(out, "the trip counts of its other loops are not known");
    }
    if (found != straight && passes * hottest.instructions < candidates[straight].instructions)
        return unknown(out,
                       "the loop with the declared work executes fewer instructions than the code outside all loops");
    out.evidence = model::Hot::accounted;
    for (const auto b : candidates[found].blocks) {
        auto block = counted_block(isa, stats->code, graph, graph.blocks[b]);
        if (block.instructions > 0) out.blocks.push_back(std::move(block));
    }
    return out;
}

std::optional<DeclaredBytes> declared_bytes(const model::Setup& setup) {
    for (const auto& argument : setup.args)
        if (std::holds_alternative<model::InOut>(argument)) return std::nullopt;
    return declared_in_place(setup);
}

std::optional<DeclaredBytes> declared_in_place(const model::Setup& setup) {
    DeclaredBytes out{0, setup.work.bytes};
    if (setup.slope || !setup.steps.empty()) return std::nullopt;
    double changed = 0, read = 0;
    for (const auto& argument : setup.args) {
        if (const auto* output = std::get_if<model::Output>(&argument))
            out.stored += static_cast<double>(output->size_bytes);
        else if (const auto* in_place = std::get_if<model::InOut>(&argument))
            changed += static_cast<double>(in_place->data.size());
        else if (const auto* input = std::get_if<model::Input>(&argument))
            read += static_cast<double>(input->data.size());
        else if (!std::holds_alternative<model::Value>(argument) && !std::holds_alternative<model::Local>(argument))
            return std::nullopt;
    }
    out.stored = setup.work.stored > 0 ? setup.work.stored : out.stored + changed;
    return changed == 0 || about(out.moved, read + changed + out.stored) ? std::optional(out) : std::nullopt;
}

model::Hot account(const Analysis& analysis, const model::Setup& setup) {
    const auto declared = declared_bytes(setup);
    // A kernel file compiled for an absent device has no arguments.
    if (setup.global.dims == 0 || (setup.args.empty() && setup.work.flops <= 0))
        return model::unknown({}, "its work-items and operations are not declared");
    if (!declared) return model::unknown({}, "its stores are not declared");
    const auto items = static_cast<double>(setup.global.count());
    return account(analysis, {declared->stored / items, (declared->moved - declared->stored) / items,
                              setup.work.flops / 2 / items});
}

std::optional<double> executions(const model::HotBlock& block, const DeclaredBytes& declared) {
    constexpr double alone = 0.9;
    const auto per_byte = block.per_stored_byte(), loaded = model::bytes_of(block.memory, "load");
    if (block.share < alone || !per_byte || block.elements.contains(model::HotBlock::part_store) || !loaded ||
        declared.stored <= 0)
        return std::nullopt;
    const double times = declared.stored * *per_byte / block.instructions;
    if (times * *loaded < (1 - tolerance) * (declared.moved - declared.stored)) return std::nullopt;
    return times;
}

std::optional<double> least_instructions(const model::Hot& hot, const DeclaredBytes& declared) {
    model::HotBlock cheapest;
    double share = 0, fewest = HUGE_VAL;
    for (const auto& block : hot.blocks) {
        share += block.share;
        if (model::bytes_of(block.memory, "store") == 0.0 && !block.elements.contains(model::HotBlock::uncounted))
            continue;
        const auto each = block.per_stored_byte();
        if (!each) return std::nullopt;
        if (*each < fewest) fewest = *each, cheapest = block;
    }
    cheapest.share = share;
    const auto times = executions(cheapest, declared);
    return times ? std::optional(*times * cheapest.instructions) : std::nullopt;
}

}  // namespace cllab::inspect
