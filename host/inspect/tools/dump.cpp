#include "inspect/tools/dump.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "inspect/binary/cpu_code.hpp"
#include "inspect/code/hot_code.hpp"
#include "inspect/isa/isa.hpp"
#include "inspect/tools/tool.hpp"
#include "json/read.hpp"

namespace cllab::inspect {
Analysis read_code(const DumpRequest& request) {
    return analyse(request.binary, request.entry, request.build_log, request.launch,
                   {.ran = request.ran, .tool_budget = request.tool_budget});
}

std::string code_that_ran(const DumpRequest& request) {
    if (recognise(request.binary) != Kind::poclbin) return {};
    const auto loaded = loaded_objects();
    return choose_pocl_code(with_loaded(read_poclbin(request.binary), loaded), request.entry, request.launch, loaded,
                            request.ran)
        .path;
}

DumpFolder write_sidecars(const DumpRequest& request, const Analysis& a) {
    std::vector<std::pair<std::string, std::string>> texts{
        {"source.cl", request.source}, {"options.txt", request.options + "\n"}, {"build.log", request.build_log}};
    if (a.kind == Kind::ptx)
        texts.emplace_back(file_name(a.kind), ptx_text(request.binary));
    else if (a.kind != Kind::empty)
        texts.emplace_back(file_name(a.kind), as_text(request.binary));
    for (const auto& part : a.disassembly.parts) texts.emplace_back(part.file, part.bytes);
    texts.emplace_back("isa.txt", request.hot ? marked_isa_text(a, *request.hot) : isa_text(a));
    texts.emplace_back("stats.json", request.hot ? marked_stats(a, *request.hot) : a.stats);
    std::vector<std::string> files{timing_file};
    for (const auto& [file, text] : texts) files.push_back(file);
    DumpFolder folder(request.folder, files);
    for (const auto& [file, text] : texts) folder.write(file, as_bytes(text));
    return folder;
}

DumpTexts read_dump(const std::filesystem::path& folder) {
    DumpTexts out;
    out.isa = read_file(folder / "isa.txt").value_or("");
    try {
        const auto stats = parse_json<nlohmann::json>(read_file(folder / "stats.json").value_or(""));
        out.summary = stats.value("summary", "");
        for (const auto& listing : stats.value("listings", nlohmann::json::array())) {
            const auto* set = isa::named(listing.value("isa", ""));
            if (!set || !listing.contains("counts") || (!out.counted_isa.empty() && set->virtual_machine)) continue;
            out.function = listing.at("counts").at("function").get<std::string>();
            out.counted_isa = listing.at("isa").get<std::string>();
        }
    } catch (const JsonRefused&) {  // the text of the disassembly is there without its counts
    } catch (const nlohmann::json::exception&) {
    }
    return out;
}

}  // namespace cllab::inspect
