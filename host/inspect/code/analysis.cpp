#include "inspect/code/analysis.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"
#include "inspect/binary/elf.hpp"
#include "inspect/binary/nvidia.hpp"
#include "inspect/isa/isa.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::inspect {
namespace {

using nlohmann::json;

/// "VGPRs 5, SGPRs 9, …" in the vendor's own words; spills say their unit.
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
    // Counts of PTX may be all there is beside it.
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

/// Replaces the kernel's name where it is one: alone, or between the underscores that drivers and parameters put around
/// it.
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

/// "[rip + 0x2f3]" and "[rip-18]" become "[rip]": where constants lie follows from the length of the code before them.
void drop_displacements(std::string& text) {
    for (auto at = text.find("rip"); at != std::string::npos; at = text.find("rip", at + 3)) {
        auto end = at + 3;
        while (end < text.size() && (std::isxdigit(static_cast<unsigned char>(text[end])) ||
                                     std::string_view(" +-x").find(text[end]) != std::string_view::npos))
            ++end;
        text.erase(at + 3, end - at - 3);
    }
}

/// The bytes of the constants that lie beside the code in an ELF file.
std::string constants_of(ByteSpan file) {
    std::string out;
    if (const auto elf = read_elf(file)) {
        for (const auto& section : elf->sections)
            if (section.name.starts_with(".rodata")) out.append(as_text(section.data));
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
    } catch (const Error& error) {  // no room for a temporary file: the facts that need no tool are still worth having
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
    // Names come out of the binary: bytes that are not UTF-8 are replaced, not thrown over.
    a.stats = make_stats(a, facts, binary.size(), entry).dump(2, ' ', false, json::error_handler_t::replace) + "\n";
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
                normalised_with_callees(*best->isa, listing.text, best->code, entry) + constants_of(binary);
    for (const auto& part : analysis.disassembly.parts) text += constants_of(as_bytes(part.bytes));
    return sha256_hex(text);
}

}  // namespace cllab::inspect
