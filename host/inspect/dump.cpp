#include "inspect/dump.hpp"

#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "inspect/amd_metadata.hpp"
#include "inspect/binary.hpp"
#include "inspect/disassemble.hpp"
#include "inspect/nvidia.hpp"
#include "inspect/tool.hpp"

namespace cllab::inspect {
namespace {

using nlohmann::json;

struct Analysis {
    Kind kind = Kind::empty;
    model::CodeInfo info;
    Disassembly disassembly;
    json facts = json::object();  ///< what CodeInfo has no field for, by its own name
};

void set(model::CodeInfo& info, const char* name, std::optional<std::int64_t> model::CodeInfo::*field,
         std::optional<std::int64_t> value, const std::string& origin) {
    if (!value) return;
    info.*field = value;
    info.origin[name] = origin;
}

void add_nvidia(Analysis& a, const PtxasFacts& facts, const std::string& origin) {
    set(a.info, "registers", &model::CodeInfo::registers, facts.registers, origin + ", per work-item");
    set(a.info, "spills", &model::CodeInfo::spills, facts.spill_store_bytes, origin + ", bytes of spill stores per work-item");
    set(a.info, "local_bytes", &model::CodeInfo::local_bytes, facts.shared_bytes, origin + ", per work-group, without __local arguments");
    set(a.info, "private_bytes", &model::CodeInfo::private_bytes, facts.stack_bytes, origin + ", stack frame per work-item");
    if (facts.spill_load_bytes) a.facts["spill_load_bytes"] = *facts.spill_load_bytes;
    if (facts.barriers) a.facts["barriers"] = *facts.barriers;
}

void add_amd(Analysis& a, ByteSpan code_object, const std::string& entry) {
    if (const std::string processor = amd_processor(code_object); !processor.empty()) a.facts["processor"] = processor;
    const auto metadata = read_amd_metadata(code_object);
    const auto facts = metadata ? amd_kernel_facts(*metadata, entry) : std::nullopt;
    if (!facts) return;
    const std::string origin = "code object metadata";
    set(a.info, "registers", &model::CodeInfo::registers, facts->vgprs, origin + ", VGPRs per work-item");
    set(a.info, "spills", &model::CodeInfo::spills, facts->vgpr_spills, origin + ", VGPRs spilled");
    set(a.info, "local_bytes", &model::CodeInfo::local_bytes, facts->local_bytes, origin + ", per work-group, without __local arguments");
    set(a.info, "private_bytes", &model::CodeInfo::private_bytes, facts->private_bytes, origin + ", scratch per work-item");
    const std::pair<const char*, std::optional<std::int64_t>> more[] = {
        {"sgprs", facts->sgprs}, {"agprs", facts->agprs}, {"sgpr_spills", facts->sgpr_spills},
        {"wavefront_size", facts->wavefront}, {"max_flat_workgroup_size", facts->max_group}};
    for (const auto& [key, value] : more)
        if (value) a.facts[key] = *value;
}

Analysis analyse(const DumpRequest& request) {
    Analysis a;
    a.kind = recognise(request.binary);
    a.info.kind = name(a.kind);
    try {
        a.disassembly = disassemble(a.kind, request.binary, request.entry, request.local);
    } catch (const Error& error) {  // no room for a temporary file: the facts that need no tool are still worth having
        a.disassembly.listings.push_back({describe(a.kind), Isa::none, {}, std::string("no disassembly: ") + error.what()});
    }
    if (a.disassembly.code_bytes > 0)
        set(a.info, "code_bytes", &model::CodeInfo::code_bytes, a.disassembly.code_bytes,
            a.kind == Kind::ptx ? "cubin re-assembled by ptxas" : "symbol table");
    if (a.kind == Kind::ptx || a.kind == Kind::cubin) {
        // The driver's own log describes the code that ran; ptxas of another release is the second choice.
        const PtxasFacts log = parse_ptxas_log(request.build_log, request.entry);
        if (!log.empty()) add_nvidia(a, log, "driver's ptxas verbose log");
        else if (a.kind == Kind::cubin) add_nvidia(a, read_cubin(request.binary, request.entry), "cubin .nv.info");
        else if (!a.disassembly.ptxas.empty()) add_nvidia(a, a.disassembly.ptxas, "ptxas -v of this machine, may differ from the driver's");
    }
    if (a.kind == Kind::amdgpu_code_object) add_amd(a, request.binary, request.entry);
    return a;
}

std::string isa_text(const Analysis& a) {
    std::string text;
    for (const auto& listing : a.disassembly.listings) {
        text += "// " + listing.title + (listing.made_by.empty() ? "" : ", by " + listing.made_by) + "\n";
        text += listing.text.empty() ? "// " + listing.note + "\n" : listing.text;
        if (!text.ends_with('\n')) text += "\n";
        text += "\n";
    }
    return text;
}

json stats(const Analysis& a, const DumpRequest& request) {
    json out = {{"schema", 1}, {"entry", request.entry}, {"kind", a.info.kind}, {"description", describe(a.kind)},
                {"binary_bytes", request.binary.size()}};
    const std::pair<const char*, std::optional<std::int64_t>> numbers[] = {
        {"registers", a.info.registers}, {"spills", a.info.spills}, {"local_bytes", a.info.local_bytes},
        {"private_bytes", a.info.private_bytes}, {"code_bytes", a.info.code_bytes}};
    for (const auto& [key, value] : numbers)
        if (value) out[key] = *value;
    out["origin"] = a.info.origin;
    out.update(a.facts);
    for (const auto& listing : a.disassembly.listings) {
        json entry = {{"title", listing.title}, {"isa", name(listing.isa)}};
        if (!listing.made_by.empty()) entry["made_by"] = listing.made_by;
        if (!listing.note.empty()) entry["note"] = listing.note;
        out["listings"].push_back(std::move(entry));
    }
    return out;
}

/// Makes the folder and removes what an earlier dump left in it: only names that a dump can have, for the folder may
/// hold a user's own notes.
void prepare_folder(const std::filesystem::path& folder) {
    namespace fs = std::filesystem;
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed) throw Error(Blame::environment, "cannot make the dump folder " + folder.string() + ": " + failed.message());
    std::vector<fs::path> stale;
    for (fs::directory_iterator i(folder, failed), end; !failed && i != end; i.increment(failed)) {
        const std::string file = i->path().filename().string();
        const bool ours = file.starts_with("program.") || file == "source.cl" || file == "options.txt" || file == "build.log" ||
                          file == "isa.txt" || file == "stats.json" || file == "timing.json";
        if (ours) stale.push_back(i->path());
    }
    for (const auto& file : stale) fs::remove(file, failed);
}

}  // namespace

model::CodeInfo read_code(const DumpRequest& request) { return analyse(request).info; }

model::CodeInfo write_dump(const DumpRequest& request) {
    prepare_folder(request.folder);
    const auto put = [&](const std::string& file, std::string_view text) { write_file(request.folder / file, as_bytes(text)); };
    put("source.cl", request.source);
    put("options.txt", request.options + "\n");
    put("build.log", request.build_log);
    const Analysis a = analyse(request);
    if (a.kind == Kind::ptx) put(file_name(a.kind), ptx_text(request.binary));
    else if (a.kind != Kind::empty) put(file_name(a.kind), as_text(request.binary));
    for (const auto& part : a.disassembly.parts) put(part.file, part.bytes);
    put("isa.txt", isa_text(a));
    // Names come out of the binary: bytes that are not UTF-8 are replaced, not thrown over.
    put("stats.json", stats(a, request).dump(2, ' ', false, json::error_handler_t::replace) + "\n");
    return a.info;
}

}  // namespace cllab::inspect
