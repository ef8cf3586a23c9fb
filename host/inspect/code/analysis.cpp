#include "inspect/code/analysis.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"
#include "inspect/binary/binary.hpp"
#include "inspect/binary/nvidia.hpp"
#include "inspect/isa/isa.hpp"
#include "inspect/tools/tool.hpp"
#include "json/read.hpp"

namespace cllab::inspect {
namespace {

using nlohmann::json;

/// "VGPRs 5, SGPRs 9, …" in the vendor's terms; spills have their unit.
std::string facts_line(const Analysis& a, const json& facts) {
    const auto* set = isa::of(a.kind);
    const Words words = set ? set->words : Words{};
    const auto shown = set ? set->shown_facts : std::vector<ShownFact>{};
    std::vector<std::string> parts;
    const auto add = [&](const char* name, std::optional<std::int64_t> value, const char* unit = "") {
        if (value) parts.push_back(name + (" " + std::to_string(*value)) + unit);
    };
    const auto add_shown = [&](bool before_spills) {
        for (const auto& fact : shown)
            if (fact.before_spills == before_spills && facts.contains(fact.key))
                add(fact.label, facts[fact.key].get<std::int64_t>(), fact.unit);
    };
    add(words.registers, a.info.registers);
    add_shown(true);
    add(words.spills, a.info.spills, words.spill_unit);
    add_shown(false);
    const auto per_private = concat(" byte per ", words.private_per);
    add(words.private_bytes, a.info.private_bytes, per_private.c_str());
    add(words.local_bytes, a.info.local_bytes, " byte");
    // "of SASS", because the instruction counts may be of PTX only.
    add("code", a.info.code_bytes, a.kind == Kind::ptx ? " byte of SASS" : " byte");
    return join(parts, ", ");
}

void add_loop(Analysis& a) {
    const auto* best = a.best();
    if (!best || best->shown < 0) return;
    const auto& counts = best->loops[static_cast<std::size_t>(best->shown)].own;
    a.info.loop["instructions"] = counts.instructions;
    for (const auto& mark : best->isa->marks)
        if (const auto n = counts.mark(mark.key); n > 0 || mark.always) a.info.loop[mark.key] = n;
    a.info.origin["loop"] = std::string(best->isa->name) + ", one iteration of the " + shown_place(*best);
}

std::string make_summary(const Analysis& a, const json& facts) {
    std::string text = facts_line(a, facts);
    if (!text.empty()) text += "\n";
    if (facts.contains("occupancy")) text += "occupancy " + facts["occupancy"]["formula"].get<std::string>() + "\n";
    for (std::size_t i = 0; i < a.counts.size(); ++i) {
        const Listing& listing = a.disassembly.listings[i];
        text += listing.title + (listing.made_by.empty() ? "" : ", by " + listing.made_by) + "\n";
        text += summary(a.counts[i]);
        if (!listing.note.empty()) text += listing.note + "\n";
    }
    return text;
}

json make_stats(const Analysis& a, const json& facts, std::size_t binary_bytes, const std::string& entry) {
    json out = {{"schema", 1},
                {"entry", entry},
                {"kind", a.info.kind},
                {"description", describe(a.kind)},
                {"binary_bytes", binary_bytes}};
    for (const auto& [name, number] : fact_names)
        if (const auto& value = a.info.*number) out[name] = *value;
    if (!a.info.fingerprint.empty()) out["fingerprint"] = a.info.fingerprint;
    out["origin"] = a.info.origin;
    out.update(facts);
    for (std::size_t i = 0; i < a.disassembly.listings.size(); ++i) {
        const Listing& listing = a.disassembly.listings[i];
        json entry_json = {{"title", listing.title}, {"isa", listing.isa ? listing.isa->name : "none"}};
        if (!listing.made_by.empty()) entry_json["made_by"] = listing.made_by;
        if (!listing.note.empty()) entry_json["note"] = listing.note;
        if (!a.counts[i].code.instructions.empty()) entry_json["counts"] = to_json(a.counts[i]);
        out["listings"].push_back(std::move(entry_json));
    }
    return out;
}

/// Replaces the kernel's name where it is a whole word. The underscores that drivers and parameters add may adjoin it.
void drop_name(std::string& text, const std::string& name) {
    if (name.empty()) return;
    const auto letter = [&](std::size_t at) {
        return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at]));
    };
    for (auto at = text.find(name); at != std::string::npos;) {
        const bool is_name = !(at > 0 && letter(at - 1)) && !letter(at + name.size());
        if (is_name) text.replace(at, name.size(), "@");
        at = text.find(name, at + 1);
    }
}

/// "[rip + 0x2f3]" and "[rip-18]" become "[rip]": the distance of constants depends on the length of the code before
/// them.
void drop_displacements(std::string& text) {
    for (auto at = text.find("rip"); at != std::string::npos; at = text.find("rip", at + 3)) {
        auto end = at + 3;
        while (end < text.size() && (std::isxdigit(static_cast<unsigned char>(text[end])) ||
                                     std::string_view(" +-x").find(text[end]) != std::string_view::npos))
            ++end;
        text.erase(at + 3, end - at - 3);
    }
}

/// The bytes of the constant sections of an ELF file. Among AMD's kernel descriptors (.kd, 64 bytes) only the kernel's
/// own counts, without bytes 16 to 23: these are the offset of its code, which depends on other kernels of the file.
std::string constants_of(ByteSpan file, const std::string& entry) {
    std::string out;
    const auto elf = read_elf(file);
    for (std::size_t i = 0; elf && i < elf->sections.size(); ++i) {
        const auto& section = elf->sections[i];
        if (!section.name.starts_with(".rodata")) continue;
        std::string bytes(as_text(section.data));
        std::map<std::uint64_t, std::string_view, std::greater<>> descriptors;  // last first
        for (const auto& symbol : elf->symbols)
            if (symbol.section == i && symbol.name.ends_with(".kd"))
                descriptors[symbol.value - section.address] = symbol.name;
        for (const auto& [at, name] : descriptors)
            if (at < bytes.size() && bytes.size() - at >= 64)
                name == entry + ".kd" ? bytes.erase(at + 16, 8) : bytes.erase(at, 64);
        out += bytes;
    }
    return out;
}

}  // namespace

const FunctionStats* Analysis::best() const {
    const FunctionStats* found = nullptr;
    for (const auto& counts_of : counts)
        if (!counts_of.code.instructions.empty() && (!found || found->isa->virtual_machine)) found = &counts_of;
    return found;
}

Analysis analyse(ByteSpan binary, const std::string& entry, std::string_view build_log, const LaunchSize& launch,
                 const DisassembleOptions& options) {
    Analysis a;
    a.kind = recognise(binary);
    a.info.kind = name(a.kind);
    try {
        const ToolBudget budget(options.tool_budget);
        a.disassembly = disassemble(a.kind, binary, entry, launch, options);
    } catch (const Error& error) {  // a temporary file could not be written: keeps the facts that need no tool
        a.disassembly.listings.push_back(
            {describe(a.kind), nullptr, {}, std::string("no disassembly: ") + error.what()});
    }
    for (const auto& listing : a.disassembly.listings)
        a.counts.push_back(count_function(listing.isa, listing.text, listing.function));
    if (a.disassembly.code_bytes > 0)
        set_fact(a.info, "code_bytes", a.disassembly.code_bytes, a.disassembly.code_bytes_from);
    add_loop(a);
    a.info.fingerprint = fingerprint(a, binary, entry);
    json facts = json::object();
    if (const auto* set = isa::of(a.kind); set && set->read_facts)
        set->read_facts(a, facts,
                        {binary, entry, build_log, launch.local.dims ? launch.local.count() : 0, options.target,
                         launch.local_arguments});
    a.summary = make_summary(a, facts);
    facts["summary"] = a.summary;
    // Names come from the binary: bytes that are not UTF-8 are replaced and cause no exception.
    a.stats = json_text(make_stats(a, facts, binary.size(), entry), 2) + "\n";
    return a;
}

std::string isa_text(const Analysis& a) {
    std::string text;
    for (const auto line : lines_of(a.summary)) text += "// " + std::string(line) + "\n";
    for (const auto& listing : a.disassembly.listings) {
        if (listing.text.empty()) continue;
        text += "\n// " + listing.title + "\n" + listing.text;
        if (!text.ends_with('\n')) text += "\n";
    }
    return text;
}

std::string normalised(const InstructionSet& set, const Function& function, const std::string& entry) {
    std::map<std::uint64_t, std::size_t> place;
    for (std::size_t i = 0; i < function.instructions.size(); ++i) place.emplace(function.instructions[i].address, i);
    std::string out;
    for (std::size_t i = 0; i < function.instructions.size(); ++i) {
        const auto& instruction = function.instructions[i];
        std::string operands = instruction.operands;
        if (!instruction.targets.empty()) {
            operands.clear();
            for (const auto target : instruction.targets) {
                const auto found = place.find(target);
                operands += found == place.end() ? std::string(" outside")
                                                 : " " + std::to_string(static_cast<std::ptrdiff_t>(found->second) -
                                                                        static_cast<std::ptrdiff_t>(i));
            }
        }
        if (&set == &isa::x86) drop_displacements(operands);
        drop_name(operands, entry);
        out += instruction.guard + (instruction.locked ? "lock " : "") + instruction.mnemonic + " " + operands + "\n";
    }
    return out;
}

std::string normalised_with_callees(const InstructionSet& set, std::string_view text, const Function& function,
                                    const std::string& entry) {
    const auto functions = set.parse(text);
    std::set<std::string_view> seen{function.name};
    std::vector<const Function*> todo{&function};
    std::string out;
    while (!todo.empty()) {
        const auto* next = todo.back();
        todo.pop_back();
        out += normalised(set, *next, entry);
        for (const auto& instruction : next->instructions) {
            const auto name = behind_plt(named_target(instruction.operands));
            const auto found = std::ranges::find(functions, name, &Function::name);
            if (found != functions.end() && seen.insert(found->name).second) todo.push_back(&*found);
        }
    }
    return out;
}

std::string fingerprint(const Analysis& analysis, ByteSpan binary, const std::string& entry) {
    if (analysis.kind == Kind::ptx) {
        auto kernel = kernel_of_ptx(ptx_text(binary), entry);
        drop_name(kernel, entry);
        return sha256_hex(kernel);
    }
    const auto* best = analysis.best();
    if (!best) return {};
    const auto& listing = analysis.disassembly.listings[static_cast<std::size_t>(best - analysis.counts.data())];
    auto text = std::string(best->isa->name) + "\n" +
                normalised_with_callees(*best->isa, listing.text, best->code, entry) + constants_of(binary, entry);
    for (const auto& part : analysis.disassembly.parts) text += constants_of(as_bytes(part.bytes), entry);
    return sha256_hex(text);
}

namespace {

using model::Declared;
using What = Declared::What;

// --- One instruction -------------------------------------------------------------------------------------------------

/// What may be declared, in the order of Declared::What. `access`: the start of an access's name, after its space.
struct OperationKind {
    const char* name;
    std::string_view access{};
    bool local = false;
};
constexpr OperationKind wanted_kinds[]{{"multiply-adds"},
                                       {"integer multiplications"},
                                       {"loads", "load"},
                                       {"stores", "store"},
                                       {"local loads", "load", true},
                                       {"local stores", "store", true},
                                       {"atomics", "atomic"},
                                       {"local atomics", "atomic", true},
                                       {"barriers"},
                                       {"floating-point operations or calls"}};
const OperationKind& kind_of(const Declared& d) { return wanted_kinds[static_cast<std::size_t>(d.what)]; }

/// The bits of an access such as "global_load_128" (0: unknown) if it is of the wanted kind; otherwise nullopt.
std::optional<unsigned> matching_bits(const InstructionSet& isa, std::string_view access, const OperationKind& wanted) {
    const auto& spaces = wanted.local ? isa.local_spaces : isa.global_spaces;
    if (spaces.empty()) {  // there is only one memory
        if (access.starts_with("stack_")) access.remove_prefix(6);
    } else {
        const auto space = access.substr(0, access.find('_'));
        if (std::ranges::find(spaces, space) == spaces.end()) return std::nullopt;
        access.remove_prefix(space.size() + 1);
    }
    if (!access.starts_with(wanted.access)) return std::nullopt;
    return static_cast<unsigned>(number_at(access, access.rfind('_') + 1));
}

double accesses(const InstructionSet& isa, const Instruction& i, const Declared& d, const OperationKind& kind) {
    if (isa.is_housekeeping && isa.is_housekeeping(i)) return 0;
    // An atomic counts as one, whatever its width.
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

/// The function in the brackets of "1160 <f>" if it is not `own`; otherwise empty. "<f+0x20>" is a place, not a
/// function.
std::string other_function(const Instruction& i, const std::string& own) {
    const auto name = std::string(named_target(i.operands));
    return name == own || i.operands.find("+0x", i.operands.rfind('<')) != std::string::npos ? std::string{} : name;
}

bool leaves(const InstructionSet& isa, const Instruction& i, const std::string& own) {
    return isa.is_call(i) || (isa.names_callees && i.flow != Flow::next && !other_function(i, own).empty());
}

/// Counts a function and the functions that it calls, once per call.
class CallTree {
public:
    CallTree(const InstructionSet& isa, const std::string& text, const Declared& declared)
        : isa_(isa), declared_(declared) {
        for (auto& function : isa.parse(text)) functions_.emplace(function.name, std::move(function));
    }

    /// nullopt if it calls a function that cannot be followed. If built-in functions are declared, such a call may be
    /// one of them, or the whole kernel through a linker's table. Enough counted calls then prove the work; too few
    /// prove nothing.
    std::optional<double> total(const std::string& called) {
        const std::string name(behind_plt(called));
        const auto found = functions_.find(name);
        // Code behind the linker's table may be in another file. A recursion has no fixed number of operations.
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

/// Whether every jump of the function is known, and so all of its loops.
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
        // Code before and after the loops (arguments, start values) is no work of an iteration. Without a loop there is
        // no such work.
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
            // count_function takes the first function if none has that name. Such code is not judged.
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
