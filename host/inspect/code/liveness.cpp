#include "inspect/code/liveness.hpp"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "core/text.hpp"
#include "inspect/code/code.hpp"
#include "inspect/isa/isa.hpp"

namespace cllab::inspect {
namespace {

using Units = std::set<Unit>;

/// Returns whether `into` became larger.
bool merge(Units& into, const Units& from) {
    const auto before = into.size();
    into.insert(from.begin(), from.end());
    return into.size() > before;
}

/// A mask of work-items by its register; the first register of a pair names both.
using Mask = std::pair<unsigned, unsigned>;
constexpr Mask any_mask{~0u, ~0u};

struct State {
    Units live;                     ///< registers of active work-items
    std::map<Mask, Units> waiting;  ///< registers of work-items that this mask activates again
};

bool merge(State& into, const State& from) {
    bool more = merge(into.live, from.live);
    for (const auto& [mask, who] : from.waiting) more = merge(into.waiting[mask], who) || more;
    return more;
}

/// If work-items wait for a mask that this instruction writes, they wait for the mask's sources before it.
void rewrite_masks(const InstructionSet& isa, const Roles& roles, State& state) {
    if (state.waiting.empty()) return;
    std::vector<Mask> sources;
    if (roles.mask_from == Roles::MaskFrom::scalars)
        for (const auto& unit : roles.reads)
            if (!isa.registers->kinds[unit.kind].by_lane) sources.emplace_back(unit.kind, unit.number);
    if (roles.mask_from == Roles::MaskFrom::elsewhere) sources.push_back(any_mask);
    std::vector<Units> taken;
    for (const auto& unit : roles.writes)
        if (auto found = state.waiting.extract({unit.kind, unit.number})) taken.push_back(std::move(found.mapped()));
    for (const auto& who : taken)
        for (const auto& source : sources) merge(state.waiting[source], who);
}

/// Changes the state after the instruction to the state before it.
void step_back(const InstructionSet& isa, const Roles& roles, State& state) {
    Units parked;
    if (roles.parks)
        for (const auto& [mask, who] : state.waiting) merge(parked, who);
    rewrite_masks(isa, roles, state);
    if (roles.resumes) {
        Units lanes;
        for (const auto& unit : state.live)
            if (isa.registers->kinds[unit.kind].by_lane) lanes.insert(unit);
        if (roles.resumed_from.empty()) merge(state.waiting[any_mask], lanes);
        for (const auto& unit : roles.resumed_from) merge(state.waiting[{unit.kind, unit.number}], lanes);
    }
    merge(state.live, parked);
    for (const auto& unit : roles.writes) state.live.erase(unit);
    state.live.insert(roles.reads.begin(), roles.reads.end());
}

/// Why liveness is unknown; empty if it is known.
std::string trouble(const InstructionSet& isa, const Function& function) {
    if (!isa.registers) return std::string("the lab has no rules of what ") + isa.name + " instructions read and write";
    if (function.instructions.empty()) return "there are no instructions";
    std::set<std::uint64_t> addresses;
    for (const auto& i : function.instructions) addresses.insert(i.address);
    for (const auto& i : function.instructions) {
        const auto where = [&] { return " ('" + i.text + "')"; };
        if (isa.is_call && isa.is_call(i)) return "it calls another function" + where();
        if (i.flow != Flow::branch && i.flow != Flow::jump) continue;
        if (i.targets.empty()) return "it jumps to where a register says" + where();
        for (const auto target : i.targets)
            if (!addresses.count(target)) return "it jumps out of its listing" + where();
    }
    if (isa.registers->jumps_are_seen && !isa.registers->jumps_are_seen(function))
        return "work-items reconverge at another place than the instruction that waits for them";
    return {};
}

std::string name_of(const InstructionSet& isa, const Unit& unit) {
    return isa.registers->kinds[unit.kind].prefix + std::to_string(unit.number);
}

/// Number of registers by kind.
std::vector<unsigned> registers_in(const InstructionSet& isa, const Units& units) {
    std::vector<unsigned> out(isa.registers->kinds.size());
    for (const auto& unit : units) ++out[unit.kind];
    return out;
}

/// Maximum number of registers by kind at an instruction. Changes `state` from after the instruction to before it.
std::vector<unsigned> counted_back(const InstructionSet& isa, const Roles& roles, State& state) {
    auto while_it_runs = state.live;
    while_it_runs.insert(roles.writes.begin(), roles.writes.end());
    while_it_runs.insert(roles.touches.begin(), roles.touches.end());
    step_back(isa, roles, state);
    auto out = registers_in(isa, while_it_runs);
    // Results may use the registers of sources that are read for the last time.
    const auto before = registers_in(isa, state.live);
    for (std::size_t k = 0; k < before.size(); ++k) out[k] = std::max(out[k], before[k]);
    return out;
}

}  // namespace

std::vector<std::string> operands_of(std::string_view text) {
    std::vector<std::string> out;
    int depth = 0;
    std::string operand;
    for (const char c : text) {
        if (c == '[' || c == '{' || c == '(') ++depth;
        if (c == ']' || c == '}' || c == ')') --depth;
        if (c == ',' && depth == 0)
            out.push_back(trim(operand)), operand.clear();
        else
            operand += c;
    }
    operand = trim(operand);
    if (!operand.empty() || !out.empty()) out.push_back(operand);
    return out;
}

Liveness live_registers(const InstructionSet& isa, const Function& function) {
    Liveness out;
    const auto unknown = [&](std::string why) {
        out = {};
        out.unknown = std::move(why);
        return out;
    };
    if (auto why = trouble(isa, function); !why.empty()) return unknown(std::move(why));
    const auto flow = analyse_flow(function);
    const auto order = flow.reached | std::views::reverse;  // most values flow forward
    const auto& code = function.instructions;
    std::vector<Roles> all(code.size());
    std::set<unsigned> named;  // kinds
    for (const auto b : order)
        for (auto i = flow.blocks[b].first; i < flow.blocks[b].end; ++i) {
            auto roles = isa.registers->roles(code[i]);
            if (!roles) return unknown("no rule says which registers '" + code[i].text + "' reads and writes");
            for (const auto* list : {&roles->reads, &roles->writes, &roles->touches, &roles->resumed_from})
                for (const auto& unit : *list) named.insert(unit.kind);
            all[i] = std::move(*roles);
        }

    std::vector<State> in(flow.blocks.size());
    const auto behind = [&](std::size_t b) {
        State state;
        for (const auto s : flow.blocks[b].successors) merge(state, in[s]);
        return state;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (const auto b : order) {
            auto state = behind(b);
            for (auto i = flow.blocks[b].end; i-- > flow.blocks[b].first;) step_back(isa, all[i], state);
            changed = merge(in[b], state) || changed;
        }
    }

    std::vector<std::vector<unsigned>> counts(code.size());
    for (const auto b : order) {
        auto state = behind(b);
        for (auto i = flow.blocks[b].end; i-- > flow.blocks[b].first;) counts[i] = counted_back(isa, all[i], state);
    }
    for (const auto k : named) {
        if (!isa.registers->kinds[k].label) continue;
        Liveness::Kind kind{isa.registers->kinds[k].label};
        for (std::size_t i = 0; i < code.size(); ++i) {
            kind.counts.push_back(counts[i].empty() ? 0 : counts[i][k]);
            if (kind.counts.back() > kind.most) kind.most = kind.counts.back(), kind.at = i;
        }
        out.kinds.push_back(std::move(kind));
    }
    for (const auto& unit : in[0].live) out.at_entry.push_back(name_of(isa, unit));
    return out;
}

std::string live_summary(const InstructionSet& isa, const Function& function, const Liveness& live) {
    if (!live.unknown.empty()) return "live registers: unknown: " + live.unknown;
    const auto text = [&](const Liveness::Kind& kind) {
        const auto place = address_text(isa, function.instructions[kind.at].address);
        return concat(kind.label, " ", kind.most, kind.most > 0 ? " at " + place : "");
    };
    return "live registers at most: " + (live.kinds.empty() ? "none" : join(live.kinds, ", ", text)) +
           (live.at_entry.empty() ? "" : "; set before it begins: " + join(live.at_entry, " "));
}

}  // namespace cllab::inspect
