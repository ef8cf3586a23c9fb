#include "app/code/source_lines.hpp"

#include <filesystem>
#include <optional>

#include "app/screen/results.hpp"
#include "app/screen/streams.hpp"
#include "core/error.hpp"
#include "core/grouped.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "device/pocl_lines.hpp"
#include "device/quirks.hpp"
#include "inspect/tools/dump.hpp"
#include "inspect/tools/source_lines.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;

std::string machine_code(const fs::path& dump) {
    return cllab::read_file(dump / "program.so").value_or(cllab::read_file(dump / "program.o").value_or(""));
}

/// Adds line information from the build with lines to the cell's dump. Returns the reason if that fails.
std::string hand_over(const fs::path& lined, const fs::path& dump, const std::string& option) {
    const auto ran = machine_code(dump), built_for_lines = machine_code(lined);
    const auto places = inspect::places_of_same_code(inspect::as_bytes(built_for_lines), inspect::as_bytes(ran),
                                                     inspect::read_dump(dump).function);
    if (!places) return "built with " + option + " the code is another one";
    if (places->empty())
        return "the driver writes none for the function that runs, or there is no objdump (Debian package binutils)";
    inspect::add_to_dump(dump, inspect::lines_file, inspect::as_bytes(inspect::lines_text(*places)));
    return {};
}

}  // namespace

std::vector<std::string> add_lines(Runner& runner, const run::Settings& like, const model::Device& device,
                                   std::span<const DumpedCell> cells) {
    const auto option = device::line_option(device);
    std::vector<std::string> out(cells.size(), "cllab knows no build option for them with this driver");
    if (option.empty() || cells.empty()) return out;
    const inspect::TempFolder temporary;
    run::RunRequest request{std::nullopt, {}, like};
    request.settings.measure = request.settings.arrangement = request.settings.energy = false;
    request.settings.hot_seconds = 0;
    request.settings.dumps = temporary.path();
    request.settings.pictures.clear();
    request.settings.build_options += (like.build_options.empty() ? "" : " ") + option;
    for (const auto& cell : cells) request.comparisons.push_back({cell.cell});
    const auto take = [&](std::size_t group, std::size_t, const model::Record& record) {
        if (group >= cells.size()) return;
        out[group] = "built with " + option + " it is " + model::name(record.status) + ": " + record.reason;
        if (record.status != model::Status::ok || record.dump.empty()) return;
        try {
            out[group] = hand_over(record.dump, cells[group].dump, option);
        } catch (const Error& e) {
            out[group] = e.what();
        }
    };
    const device::LinesOfPocl lines;
    runner.run(request, device.selector, {.done = take});
    return out;
}

void DumpedCode::take(const model::Cell& cell, const model::Record& record) {
    if (record.status != model::Status::ok || record.dump.empty() || known_.size() >= most_cards) return;
    const auto& device = record.device.selector;
    const auto& code = record.code.fingerprint.empty() ? record.dump : record.code.fingerprint;
    if (known_.insert(join({device, record.id, code}, " ")).second) cells_[device].push_back({cell, record.dump});
}

void DumpedCode::add_lines(Runner& runner, const run::Settings& like, const std::vector<model::Device>& devices) const {
    for (const auto& device : devices) {
        const auto found = cells_.find(device.selector);
        if (found == cells_.end() || device::line_option(device).empty()) continue;
        say_doing("building for the source lines of the page");
        std::map<std::string, std::vector<std::string>> missing;  // variants by reason
        try {
            const auto why = app::add_lines(runner, like, device, found->second);
            for (std::size_t i = 0; i < why.size(); ++i) {
                const auto& cell = found->second[i].cell;
                if (!why[i].empty()) add_once(missing[why[i]], cell.experiment->entry(*cell.variant));
            }
        } catch (const Error& e) {  // the measurement matters more than its lines
            missing[e.what()] = {"the page"};
        }
        say_doing("");
        for (const auto& [reason, of] : missing) say("no source lines of " + join(of, ", ") + ": " + reason);
    }
}

}  // namespace cllab::app
