#include "inspect/analysis.hpp"

#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/text.hpp"
#include "inspect/amd_metadata.hpp"
#include "inspect/fingerprint.hpp"
#include "inspect/nvidia.hpp"
#include "inspect/occupancy.hpp"
#include "inspect/tool.hpp"

namespace cllab::inspect {
namespace {

using nlohmann::json;

void set(model::CodeInfo& info, const char* name, std::optional<std::int64_t> model::CodeInfo::*field,
         std::optional<std::int64_t> value, const std::string& origin) {
    if (!value) return;
    info.*field = value;
    info.origin[name] = origin;
}

json to_json(const Occupancy& o) {
    return {
        {"waves", o.waves}, {"most", o.most}, {"unit", o.unit}, {"limited_by", o.limited_by}, {"formula", o.formula}};
}

void add_nvidia_facts(Analysis& a, json& facts, const PtxasFacts& from, const std::string& origin) {
    set(a.info, "registers", &model::CodeInfo::registers, from.registers, origin + ", per work-item");
    set(a.info, "spills", &model::CodeInfo::spills, from.spill_store_bytes,
        origin + ", bytes of spill stores per work-item");
    set(a.info, "local_bytes", &model::CodeInfo::local_bytes, from.shared_bytes,
        origin + ", per work-group, without __local arguments");
    set(a.info, "private_bytes", &model::CodeInfo::private_bytes, from.stack_bytes,
        origin + ", stack frame per work-item");
    if (from.spill_load_bytes) facts["spill_load_bytes"] = *from.spill_load_bytes;
    if (from.barriers) facts["barriers"] = *from.barriers;
}

void add_nvidia(Analysis& a, json& facts, ByteSpan binary, const std::string& entry, std::string_view log,
                std::size_t group_items, const std::string& arch) {
    // The driver's own log describes the code that ran; ptxas of another release is the second choice.
    const PtxasFacts driver = parse_ptxas_log(log, entry);
    if (!driver.empty())
        add_nvidia_facts(a, facts, driver, "driver's ptxas verbose log");
    else if (a.kind == Kind::cubin)
        add_nvidia_facts(a, facts, read_cubin(binary, entry), "cubin .nv.info");
    else if (!a.disassembly.ptxas.empty())
        add_nvidia_facts(a, facts, a.disassembly.ptxas, "ptxas -v of this machine, may differ from the driver's");
    const int sm = !arch.empty()         ? ptx_target(".target " + arch)
                   : a.kind == Kind::ptx ? ptx_target(ptx_text(binary))
                                         : 0;
    if (sm) facts["processor"] = "sm_" + std::to_string(sm);
    if (!a.info.registers) return;
    if (const auto o = nvidia_occupancy(sm, {*a.info.registers, 0, a.info.local_bytes.value_or(0), 32, group_items}))
        facts["occupancy"] = to_json(*o);
}

void add_amd(Analysis& a, json& out, ByteSpan code_object, const std::string& entry, std::size_t group_items) {
    const std::string processor = amd_processor(code_object);
    if (!processor.empty()) out["processor"] = processor;
    const auto metadata = read_amd_metadata(code_object);
    const auto facts = metadata ? amd_kernel_facts(*metadata, entry) : std::nullopt;
    if (!facts) return;
    const std::string origin = "code object metadata";
    set(a.info, "registers", &model::CodeInfo::registers, facts->vgprs, origin + ", VGPRs per work-item");
    set(a.info, "spills", &model::CodeInfo::spills, facts->vgpr_spills, origin + ", VGPRs spilled");
    set(a.info, "local_bytes", &model::CodeInfo::local_bytes, facts->local_bytes,
        origin + ", per work-group, without __local arguments");
    set(a.info, "private_bytes", &model::CodeInfo::private_bytes, facts->private_bytes,
        origin + ", scratch per work-item");
    const std::pair<const char*, std::optional<std::int64_t>> more[] = {{"sgprs", facts->sgprs},
                                                                        {"agprs", facts->agprs},
                                                                        {"sgpr_spills", facts->sgpr_spills},
                                                                        {"wavefront_size", facts->wavefront},
                                                                        {"max_flat_workgroup_size", facts->max_group}};
    for (const auto& [key, value] : more)
        if (value) out[key] = *value;
    out["metadata"] = *metadata;
    const KernelNeeds needs{facts->vgprs.value_or(0), facts->sgprs.value_or(0), facts->local_bytes.value_or(0),
                            facts->wavefront.value_or(0), group_items};
    if (const auto o = amd_occupancy(processor, needs)) out["occupancy"] = to_json(*o);
}

/// "VGPRs 5, SGPRs 9, …" in the vendor's own words; spills say their unit.
std::string facts_line(const Analysis& a, const json& facts) {
    std::vector<std::string> parts;
    const auto add = [&](const char* name, std::optional<std::int64_t> value, const char* unit = "") {
        if (value) parts.push_back(name + (" " + std::to_string(*value)) + unit);
    };
    const auto fact = [&](const char* key) {
        return facts.contains(key) ? std::optional(facts[key].get<std::int64_t>()) : std::nullopt;
    };
    const bool amd = a.kind == Kind::amdgpu_code_object;
    add(amd ? "VGPRs" : "registers", a.info.registers);
    add("SGPRs", fact("sgprs"));
    add(amd ? "spilled VGPRs" : "spill stores", a.info.spills, amd ? "" : " byte");
    add("spill loads", fact("spill_load_bytes"), " byte");
    add(amd ? "scratch" : "stack frame", a.info.private_bytes, " byte");
    add(amd ? "LDS" : "shared memory", a.info.local_bytes, " byte");
    add("code", a.info.code_bytes, " byte");
    return join(parts, ", ");
}

void add_loop(Analysis& a) {
    const auto* best = a.best();
    if (!best || best->shown < 0) return;
    const auto& counts = best->loops[static_cast<std::size_t>(best->shown)].own;
    a.info.loop["instructions"] = counts.instructions;
    if (best->isa == Isa::gcn) {
        a.info.loop["v"] = counts.v;
        a.info.loop["s"] = counts.s;
    }
    if (counts.reuse > 0) a.info.loop["reuse"] = counts.reuse;
    a.info.origin["loop"] = std::string(name(best->isa)) + ", one iteration of the " + shown_place(*best);
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
    const std::pair<const char*, std::optional<std::int64_t>> numbers[] = {{"registers", a.info.registers},
                                                                           {"spills", a.info.spills},
                                                                           {"local_bytes", a.info.local_bytes},
                                                                           {"private_bytes", a.info.private_bytes},
                                                                           {"code_bytes", a.info.code_bytes}};
    for (const auto& [key, value] : numbers)
        if (value) out[key] = *value;
    out["origin"] = a.info.origin;
    out.update(facts);
    for (std::size_t i = 0; i < a.disassembly.listings.size(); ++i) {
        const Listing& listing = a.disassembly.listings[i];
        json entry_json = {{"title", listing.title}, {"isa", name(listing.isa)}};
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
        if (!counts_of.code.instructions.empty() && (!found || found->isa == Isa::ptx)) found = &counts_of;
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
            {describe(a.kind), Isa::none, {}, std::string("no disassembly: ") + error.what()});
    }
    for (const auto& listing : a.disassembly.listings)
        a.counts.push_back(count_function(listing.isa, listing.text, listing.function));
    if (a.disassembly.code_bytes > 0)
        set(a.info, "code_bytes", &model::CodeInfo::code_bytes, a.disassembly.code_bytes,
            a.kind == Kind::ptx ? "cubin re-assembled by ptxas" : "symbol table");
    add_loop(a);
    a.info.fingerprint = fingerprint(a, binary, entry);
    json facts = json::object();
    const std::size_t group_items = launch.local.dims ? launch.local.count() : 0;
    if (a.kind == Kind::ptx || a.kind == Kind::cubin)
        add_nvidia(a, facts, binary, entry, build_log, group_items, options.arch);
    if (a.kind == Kind::amdgpu_code_object) add_amd(a, facts, binary, entry, group_items);
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
