#include "inspect/code/declared_work.hpp"

#include <algorithm>
#include <set>

#include "core/text.hpp"
#include "inspect/isa/isa.hpp"

namespace cllab::inspect {
namespace {

using model::Declared;
using What = Declared::What;

// --- One instruction -------------------------------------------------------------------------------------------------

/// What may be declared, in the order of Declared::What. `access`: the begin of such an access's name behind its space.
struct Wanted {
    const char* name;
    std::string_view access{};
    bool local = false;
};
constexpr Wanted wanted_kinds[]{{"multiply-adds"},
                                {"integer multiplications"},
                                {"loads", "load"},
                                {"stores", "store"},
                                {"local loads", "load", true},
                                {"local stores", "store", true},
                                {"atomics", "atomic"},
                                {"local atomics", "atomic", true},
                                {"barriers"},
                                {"floating-point operations or calls"}};
const Wanted& kind_of(const Declared& d) { return wanted_kinds[static_cast<std::size_t>(d.what)]; }

/// `access` is a name such as "global_load_128": whether it is the one wanted, and its bits (0: not said).
std::optional<unsigned> matching_bits(const InstructionSet& isa, std::string_view access, const Wanted& wanted) {
    const auto& spaces = wanted.local ? isa.local_spaces : isa.global_spaces;
    if (spaces.empty()) {  // memory is one
        if (access.starts_with("stack_")) access.remove_prefix(6);
    } else {
        const auto space = access.substr(0, access.find('_'));
        if (std::ranges::find(spaces, space) == spaces.end()) return std::nullopt;
        access.remove_prefix(space.size() + 1);
    }
    if (!access.starts_with(wanted.access)) return std::nullopt;
    return static_cast<unsigned>(number_at(access, access.rfind('_') + 1));
}

double accesses(const InstructionSet& isa, const Instruction& i, const Declared& d, const Wanted& kind) {
    if (isa.is_housekeeping && isa.is_housekeeping(i)) return 0;
    // An atomic is one, however wide.
    const bool whole = kind.access == "atomic";
    double sum = 0;
    for (const auto& access : isa.classify(i).memory) {
        const auto bits = matching_bits(isa, access, kind);
        if (!bits) continue;
        const bool gathers = access.find("indexed") != std::string::npos;
        const double elements = whole     ? 1
                                : gathers ? std::max(1.0, 512.0 / d.bits)
                                : *bits   ? static_cast<double>(*bits) / d.bits
                                          : 1;
        sum += i.share * elements;
    }
    return sum;
}

// --- Functions -------------------------------------------------------------------------------------------------------

/// The part of "1160 <f>" in brackets when it names another function than `own`; "<f+0x20>" is a place, not a function.
std::string other_function(const Instruction& i, const std::string& own) {
    const auto name = std::string(named_target(i.operands));
    return name == own || i.operands.find("+0x", i.operands.rfind('<')) != std::string::npos ? std::string{} : name;
}

bool leaves(const InstructionSet& isa, const Instruction& i, const std::string& own) {
    return isa.is_call(i) || (isa.names_callees && i.flow != Flow::next && !other_function(i, own).empty());
}

/// Counts functions with what they call, as often as they call it.
class CallTree {
public:
    CallTree(const InstructionSet& isa, const std::string& text, const Declared& declared)
        : isa_(isa), declared_(declared) {
        for (auto& function : isa.parse(text)) functions_.emplace(function.name, std::move(function));
    }

    /// Nothing when a function that cannot be followed is called. Of built-in functions such a call may be what was
    /// looked for, or the whole kernel behind a linker's table: enough calls prove the work, too few prove nothing.
    std::optional<double> total(const std::string& called) {
        const std::string name(behind_plt(called));
        const auto found = functions_.find(name);
        // Through the linker's table the code may be in another file. A recursion has no fixed number of operations.
        if (found == functions_.end() || !open_.insert(name).second) return std::nullopt;
        std::optional<double> sum = 0;
        for (const auto& i : found->second.instructions) {
            if (!sum) break;
            *sum += elements_of(isa_, i, declared_);
            if (!leaves(isa_, i, name)) continue;
            const auto inner = total(other_function(i, name));
            if (inner)
                *sum += *inner;
            else if (declared_.what == What::function)
                unfollowed_ = true;
            else
                sum.reset();
        }
        open_.erase(name);
        return unfollowed_ && open_.empty() && sum && *sum < declared_.count ? std::nullopt : sum;
    }

private:
    const InstructionSet& isa_;
    const Declared& declared_;
    std::map<std::string, Function> functions_;
    std::set<std::string> open_;
    bool unfollowed_ = false;
};

/// True when every jump of the function is known, so that its loops are all of its loops.
bool loops_are_known(const FunctionStats& stats) {
    if (stats.isa->hides_jumps || stats.irreducible_edges > 0) return false;
    std::set<std::uint64_t> places;
    for (const auto& i : stats.code.instructions) places.insert(i.address);
    return std::ranges::all_of(stats.code.instructions, [&](const Instruction& i) {
        if (i.flow != Flow::branch && i.flow != Flow::jump) return true;
        return !i.targets.empty() && std::ranges::all_of(i.targets, [&](auto t) { return places.contains(t); });
    });
}

std::string describe(const Declared& d) {
    const auto& [name, access, local] = kind_of(d);
    const char* type = d.bits == 64 ? "double " : d.bits == 16 ? "half " : "float ";
    const bool sized = access == "load" || access == "store";
    return (d.what == What::multiply_add ? type : sized ? std::to_string(d.bits) + "-bit " : "") + name;
}

}  // namespace

double elements_of(const InstructionSet& isa, const Instruction& i, const Declared& d) {
    if (!kind_of(d).access.empty()) return accesses(isa, i, d, kind_of(d));
    if (d.what == What::barrier) return isa.classify(i).name == "barrier";
    return isa.arithmetic(i, d);
}

std::optional<double> count_work(const FunctionStats& stats, const std::string& text, const Declared& declared,
                                 bool a_trip) {
    const auto& code = stats.code.instructions;
    if (code.empty()) return std::nullopt;
    const InstructionSet& isa = *stats.isa;
    if (declared.what == What::barrier && !isa.counts_barriers) return std::nullopt;
    if (isa.is_uncountable && std::ranges::any_of(code, isa.is_uncountable)) return std::nullopt;
    const bool function = declared.what == What::function;
    bool unfollowed = false;
    if (std::ranges::any_of(code, [&](const auto& i) { return leaves(isa, i, stats.code.name); })) {
        if (isa.names_callees) return CallTree(isa, text, declared).total(stats.code.name);
        if (!function) return std::nullopt;
        unfollowed = true;
    }
    double sum = 0;
    if (a_trip && loops_are_known(stats)) {
        // What stands before and behind the loops (arguments, start values) is no work of a trip; without a loop there
        // is none.
        for (const auto& loop : stats.loops)
            for (const auto i : loop.body) sum += elements_of(isa, code[i], declared);
    } else {
        for (const auto& i : code) sum += elements_of(isa, i, declared);
    }
    return unfollowed && sum < declared.count ? std::nullopt : std::optional(sum);
}

WorkCheck check_work(const Analysis& a, const std::vector<Declared>& declared, bool a_trip) {
    WorkCheck out;
    out.counted = !declared.empty();
    for (const auto& d : declared) {
        bool counted = false;
        for (std::size_t k = 0; k < a.counts.size(); ++k) {
            const auto& listing = a.disassembly.listings[k];
            // count_function takes the first function when there is none of that name: no code to judge by.
            if (a.counts[k].code.name != listing.function) continue;
            const auto found = count_work(a.counts[k], listing.text, d, a_trip);
            if (!found) continue;
            counted = true;
            out.found.push_back(concat(describe(d), " found ", static_cast<long long>(*found), " of the ",
                                       static_cast<long long>(d.count), " declared (", listing.isa->name, ")"));
            if (*found >= 0.95 * d.count) continue;
            const bool own_sass = a.counts.front().isa && a.counts.front().isa->virtual_machine && k > 0;
            auto& verdict = own_sass ? out.doubtful : out.collapsed;
            if (verdict.empty()) verdict = out.found.back();
        }
        out.counted = out.counted && counted;
    }
    return out;
}

}  // namespace cllab::inspect
