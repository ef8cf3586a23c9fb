#include "inspect/dump.hpp"

#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "inspect/isa/list.hpp"
#include "inspect/pocl_code.hpp"
#include "inspect/tool.hpp"

namespace cllab::inspect {
namespace {

/// Makes the folder and removes what an earlier dump left in it: only names that a dump can have, for the folder may
/// hold a user's own notes.
void prepare_folder(const std::filesystem::path& folder) {
    namespace fs = std::filesystem;
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed)
        throw Error(Blame::environment, "cannot make the dump folder " + folder.string() + ": " + failed.message());
    std::vector<fs::path> stale;
    for (fs::directory_iterator i(folder, failed), end; !failed && i != end; i.increment(failed)) {
        const std::string file = i->path().filename().string();
        const bool ours = file.starts_with("program.") || file == "source.cl" || file == "options.txt" ||
                          file == "build.log" || file == "isa.txt" || file == "stats.json" || file == "timing.json";
        if (ours) stale.push_back(i->path());
    }
    for (const auto& file : stale) fs::remove(file, failed);
}

}  // namespace

Analysis read_code(const DumpRequest& request) {
    return analyse(request.binary, request.entry, request.build_log, request.launch,
                   {.tool_budget = request.tool_budget});
}

std::string code_that_ran(const DumpRequest& request) {
    if (recognise(request.binary) != Kind::poclbin) return {};
    return choose_pocl_code(read_poclbin(request.binary), request.entry, request.launch, loaded_objects()).path;
}

void write_sidecars(const DumpRequest& request, const Analysis& a) {
    prepare_folder(request.folder);
    const auto put = [&](const std::string& file, std::string_view text) {
        write_file(request.folder / file, as_bytes(text));
    };
    put("source.cl", request.source);
    put("options.txt", request.options + "\n");
    put("build.log", request.build_log);
    if (a.kind == Kind::ptx)
        put(file_name(a.kind), ptx_text(request.binary));
    else if (a.kind != Kind::empty)
        put(file_name(a.kind), as_text(request.binary));
    for (const auto& part : a.disassembly.parts) put(part.file, part.bytes);
    put("isa.txt", isa_text(a));
    put("stats.json", a.stats);
}

DumpTexts read_dump(const std::filesystem::path& folder) {
    DumpTexts out;
    out.isa = read_file(folder / "isa.txt").value_or("");
    const auto stats = nlohmann::json::parse(read_file(folder / "stats.json").value_or(""), nullptr, false);
    if (!stats.is_object()) return out;
    out.summary = stats.value("summary", "");
    for (const auto& listing : stats.value("listings", nlohmann::json::array())) {
        const auto* set = isa::named(listing.value("isa", ""));
        if (!set || !listing.contains("counts") || (!out.counted_isa.empty() && set->virtual_machine)) continue;
        out.counted_isa = listing["isa"].get<std::string>();
        out.function = listing["counts"]["function"].get<std::string>();
    }
    return out;
}

}  // namespace cllab::inspect
