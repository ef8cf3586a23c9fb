#include "inspect/code/liveness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "core/text.hpp"
#include "inspect/code/cfg.hpp"
#include "inspect/isa/isa.hpp"

namespace cllab::inspect {
namespace {

using Bits = std::vector<std::uint64_t>;

void set(Bits& bits, std::size_t i) { bits[i / 64] |= std::uint64_t(1) << (i % 64); }
void clear(Bits& bits, std::size_t i) { bits[i / 64] &= ~(std::uint64_t(1) << (i % 64)); }
bool has(const Bits& bits, std::size_t i) { return bits[i / 64] >> (i % 64) & 1; }
/// Whether `into` became larger.
bool merge(Bits& into, const Bits& from) {
    bool more = false;
    for (std::size_t k = 0; k < into.size(); ++k) {
        more = more || (from[k] & ~into[k]) != 0;
        into[k] |= from[k];
    }
    return more;
}

/// A register as a mask of work-items: the first of a pair stands for both.
using Mask = std::pair<unsigned, unsigned>;
constexpr Mask any_mask{~0u, ~0u};

struct State {
    Bits live;                     ///< for work-items that are active
    std::map<Mask, Bits> waiting;  ///< for those that become active again by this mask
};

struct Problem {
    const InstructionSet& isa;
    std::map<Unit, std::size_t> index;
    std::vector<Unit> units;
    Bits by_lane;
    std::vector<Roles> roles;

    Bits empty() const { return Bits((units.size() + 63) / 64); }
    void add(const std::vector<Unit>& list) {
        for (const auto& unit : list)
            if (index.emplace(unit, units.size()).second) units.push_back(unit);
    }
};

Bits& waiting_at(State& state, const Mask& mask, std::size_t words) {
    auto& out = state.waiting[mask];
    out.resize(words);
    return out;
}

/// What becomes of those who wait for a mask that this instruction writes: before it, they are the mask's sources.
void rewrite_masks(const Problem& problem, const Roles& roles, State& state) {
    if (state.waiting.empty()) return;
    std::vector<Mask> sources;
    for (const auto& unit : roles.reads)
        if (!problem.isa.register_kinds[unit.kind].by_lane) sources.emplace_back(unit.kind, unit.number);
    if (roles.mask_from == Roles::MaskFrom::active) sources.clear();
    if (roles.mask_from == Roles::MaskFrom::elsewhere) sources.assign(1, any_mask);
    std::vector<std::pair<Mask, Bits>> taken;
    for (const auto& unit : roles.writes) {
        const Mask mask{unit.kind, unit.number};
        if (const auto found = state.waiting.find(mask); found != state.waiting.end()) {
            taken.emplace_back(mask, std::move(found->second));
            state.waiting.erase(found);
        }
    }
    for (const auto& [mask, who] : taken) {
        for (const auto& source : sources) merge(waiting_at(state, source, who.size()), who);
    }
}

/// From behind the instruction to in front of it.
void step_back(const Problem& problem, const Roles& roles, State& state) {
    Bits parked;
    if (roles.parks) {
        parked = problem.empty();
        for (const auto& [mask, who] : state.waiting) merge(parked, who);
    }
    rewrite_masks(problem, roles, state);
    if (roles.resumes) {
        Bits lanes = state.live;
        for (std::size_t k = 0; k < lanes.size(); ++k) lanes[k] &= problem.by_lane[k];
        if (roles.resumed_from.empty()) merge(waiting_at(state, any_mask, lanes.size()), lanes);
        for (const auto& unit : roles.resumed_from)
            merge(waiting_at(state, {unit.kind, unit.number}, lanes.size()), lanes);
    }
    if (roles.parks) merge(state.live, parked);
    for (const auto& unit : roles.writes) clear(state.live, problem.index.at(unit));
    for (const auto& unit : roles.reads) set(state.live, problem.index.at(unit));
}

bool merge(State& into, const State& from) {
    bool more = merge(into.live, from.live);
    for (const auto& [mask, who] : from.waiting) more = merge(waiting_at(into, mask, who.size()), who) || more;
    return more;
}

/// Why nothing can be said, or nothing.
std::string trouble(const InstructionSet& isa, const Function& function) {
    if (!isa.roles) return std::string("the lab has no rules of what ") + isa.name + " instructions read and write";
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
    if (isa.jumps_are_seen && !isa.jumps_are_seen(function))
        return "work-items reconverge at another place than the instruction that waits for them";
    return {};
}

std::string name_of(const InstructionSet& isa, const Unit& unit) {
    const auto& kind = isa.register_kinds[unit.kind];
    return unit.number < kind.names.size() ? kind.names[unit.number] : kind.prefix + std::to_string(unit.number);
}

/// Counts registers: one of which any part is live is in use.
std::vector<unsigned> registers_in(const Problem& problem, const Bits& bits) {
    std::vector<unsigned> out(problem.isa.register_kinds.size());
    std::set<std::pair<unsigned, unsigned>> seen;
    for (std::size_t k = 0; k < bits.size(); ++k)
        for (auto word = bits[k]; word != 0; word &= word - 1) {
            const auto& unit = problem.units[64 * k + static_cast<std::size_t>(std::countr_zero(word))];
            if (seen.emplace(unit.kind, unit.number).second) ++out[unit.kind];
        }
    return out;
}

std::vector<std::size_t> reached(const std::vector<Block>& blocks) {
    std::vector<bool> seen(blocks.size());
    std::vector<std::size_t> todo{0}, out;
    seen[0] = true;
    while (!todo.empty()) {
        const auto b = todo.back();
        todo.pop_back();
        out.push_back(b);
        for (const auto s : blocks[b].successors)
            if (!seen[s]) seen[s] = true, todo.push_back(s);
    }
    std::sort(out.rbegin(), out.rend());  // the last first: most values flow forward
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
    const auto order = reached(flow.blocks);
    const auto& code = function.instructions;
    Problem problem{isa, {}, {}, {}, std::vector<Roles>(code.size())};
    for (const auto b : order)
        for (auto i = flow.blocks[b].first; i < flow.blocks[b].end; ++i) {
            auto roles = isa.roles(code[i]);
            if (!roles) return unknown("no rule says which registers '" + code[i].text + "' reads and writes");
            problem.add(roles->reads), problem.add(roles->writes), problem.add(roles->touches),
                problem.add(roles->resumed_from);
            problem.roles[i] = std::move(*roles);
        }
    problem.by_lane = problem.empty();
    for (std::size_t u = 0; u < problem.units.size(); ++u)
        if (isa.register_kinds[problem.units[u].kind].by_lane) set(problem.by_lane, u);

    std::vector<State> in(flow.blocks.size(), State{problem.empty(), {}});
    const auto behind = [&](std::size_t b) {
        State state{problem.empty(), {}};
        for (const auto s : flow.blocks[b].successors) merge(state, in[s]);
        return state;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (const auto b : order) {
            auto state = behind(b);
            for (auto i = flow.blocks[b].end; i-- > flow.blocks[b].first;) step_back(problem, problem.roles[i], state);
            changed = merge(in[b], state) || changed;
        }
    }

    std::vector<std::vector<unsigned>> counts(code.size());
    for (const auto b : order) {
        auto state = behind(b);
        for (auto i = flow.blocks[b].end; i-- > flow.blocks[b].first;) {
            auto while_it_runs = state.live;
            for (const auto* list : {&problem.roles[i].writes, &problem.roles[i].touches})
                for (const auto& unit : *list) set(while_it_runs, problem.index.at(unit));
            step_back(problem, problem.roles[i], state);
            counts[i] = registers_in(problem, while_it_runs);
            // Sources that are read for the last time make room for what is written.
            const auto before = registers_in(problem, state.live);
            for (std::size_t k = 0; k < before.size(); ++k) counts[i][k] = std::max(counts[i][k], before[k]);
        }
    }
    for (std::size_t k = 0; k < isa.register_kinds.size(); ++k) {
        const bool named =
            std::any_of(problem.units.begin(), problem.units.end(), [&](const Unit& u) { return u.kind == k; });
        if (!named || !isa.register_kinds[k].label) continue;
        Liveness::Kind kind{isa.register_kinds[k].label};
        for (std::size_t i = 0; i < code.size(); ++i) {
            kind.counts.push_back(counts[i].empty() ? 0 : counts[i][k]);
            if (kind.counts.back() > kind.most) kind.most = kind.counts.back(), kind.at = i;
        }
        out.kinds.push_back(std::move(kind));
    }
    std::vector<Unit> at_entry;
    for (std::size_t u = 0; u < problem.units.size(); ++u)
        if (has(in[0].live, u)) at_entry.push_back(problem.units[u]);
    std::sort(at_entry.begin(), at_entry.end());
    for (const auto& unit : at_entry)
        if (auto name = name_of(isa, unit); out.at_entry.empty() || out.at_entry.back() != name)
            out.at_entry.push_back(std::move(name));
    return out;
}

std::string live_summary(const InstructionSet& isa, const Function& function, const Liveness& live) {
    if (!live.unknown.empty()) return "live registers: unknown: " + live.unknown;
    std::vector<std::string> parts;
    for (const auto& kind : live.kinds) {
        const auto address = function.instructions[kind.at].address;
        const auto place = isa.virtual_machine ? "statement " + std::to_string(address) : fmt::format("{:#x}", address);
        parts.push_back(kind.label + " " + std::to_string(kind.most) + (kind.most > 0 ? " at " + place : ""));
    }
    return "live registers at most: " + (parts.empty() ? "none" : join(parts, ", ")) +
           (live.at_entry.empty() ? "" : "; set before it begins: " + join(live.at_entry, " "));
}

}  // namespace cllab::inspect
