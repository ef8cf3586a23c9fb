#include "inspect/code/analysis.hpp"

#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/text.hpp"
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
    add(words.private_bytes, a.info.private_bytes, " byte");
    add(words.local_bytes, a.info.local_bytes, " byte");
    add("code", a.info.code_bytes, " byte");
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

}  // namespace cllab::inspect
