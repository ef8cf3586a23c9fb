#include "app/screen/html_page.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "app/files/histories.hpp"
#include "app/screen/results.hpp"
#include "core/error.hpp"
#include "core/reading.hpp"
#include "core/units.hpp"
#include "core/version.hpp"
#include "json/read.hpp"
#include "model/registry.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;
using namespace report::html;
using nlohmann::json;

std::vector<Curves> curves_of_page(const std::vector<model::Record>& records,
                                   const std::vector<portrait::Conclusion>& conclusions,
                                   const std::vector<std::optional<portrait::CurvePlace>>& places) {
    std::vector<std::vector<std::vector<std::pair<double, std::size_t>>>> cells(conclusions.size());
    for (std::size_t k = 0; k < conclusions.size(); ++k) cells[k].resize(conclusions[k].curves.size());
    for (std::size_t i = 0; i < records.size(); ++i)
        if (places[i]) cells[places[i]->conclusion][places[i]->curve].emplace_back(places[i]->x, i);
    std::vector<Curves> out;
    for (std::size_t k = 0; k < conclusions.size(); ++k) {
        const auto& conclusion = conclusions[k];
        Curves set{conclusion.device_key,
                   conclusion.experiment->family,
                   conclusion.experiment->question,
                   {},
                   conclusion.findings};
        for (std::size_t m = 0; m < conclusion.curves.size(); ++m) {
            auto& of = cells[k][m];
            if (of.size() != conclusion.curves[m].samples.size()) continue;  // too short to be a curve
            std::ranges::stable_sort(of, [](const auto& a, const auto& b) { return a.first < b.first; });
            const auto* axis = portrait::swept_axis(*conclusion.experiment, conclusion.curves[m].variant);
            set.series.push_back({conclusion.curves[m], axis->name, axis->unit, {}});
            for (const auto& [x, cell] : of) set.series.back().cells.push_back(cell);
        }
        if (!set.series.empty() || !set.findings.empty()) out.push_back(std::move(set));
    }
    return out;
}

double number_in(const json& j, const char* key) {
    const auto found = j.find(key);
    return found != j.end() && found->is_number() ? found->get<double>() : 0;
}

std::string text_in(const json& j, const char* key) {
    const auto found = j.find(key);
    return found != j.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Nothing for what is no profile of the record's device.
std::optional<Portrait> portrait_from(const fs::path& path, const model::Record& record) {
    std::error_code code;
    if (!fs::is_regular_file(path, code) || !reading_fault(path).empty()) return std::nullopt;
    std::stringstream content;
    content << std::ifstream(path, std::ios::binary).rdbuf();
    json profile;
    try {
        profile = parse_json<json>(content.str());
    } catch (const JsonRefused&) {
        return std::nullopt;
    }
    const auto items = [](const json& j, const char* key) {
        return j.is_object() && j.contains(key) && j[key].is_array() ? j[key] : json::array();
    };
    const auto device = profile.is_object() && profile.contains("device") ? profile["device"] : json();
    if (!device.is_object() || text_in(device, "name") != record.device.name ||
        text_in(device, "platform") != record.device.platform || text_in(device, "driver") != record.device.driver)
        return std::nullopt;
    Portrait out{model::device_key(record), record.device.name, text_in(profile, "utc"), {}, {}, {}};
    for (const auto& f : items(profile, "figures"))
        if (f.is_object() && f.contains("value") && f["value"].is_number())
            out.figures.push_back({text_in(f, "section"), text_in(f, "name"), text_in(f, "unit"), text_in(f, "how"),
                                   text_in(f, "driver_says"), number_in(f, "value"), number_in(f, "low"),
                                   number_in(f, "high")});
    for (const auto& a : items(profile, "absent"))
        if (a.is_object()) out.absent.push_back({text_in(a, "section"), text_in(a, "name"), text_in(a, "reason")});
    for (const auto& curve : items(profile, "curves")) {
        if (!curve.is_object()) continue;
        out.curves.push_back({text_in(curve, "id"), text_in(curve, "over"), {}});
        for (const auto& s : items(curve, "samples")) {
            if (!s.is_object()) continue;
            model::Curve::Sample sample;
            sample.x = number_in(s, "x");
            sample.seconds = number_in(s, "seconds");
            sample.per_step = number_in(s, "step_time");
            sample.metrics["bandwidth"] = number_in(s, "bandwidth");
            out.curves.back().samples.push_back(sample);
        }
    }
    return out;
}

}  // namespace

void require_page(std::size_t records) {
    if (records > most_cells)
        throw Error(Blame::usage, "a page holds at most " + std::to_string(most_cells) + " records; there are " +
                                      std::to_string(records) + ", so leave --html out or give fewer files");
}

void add_portraits(Page& page) {
    std::set<std::string> done;
    for (const auto& record : page.records) {
        if (record.dump.empty() || done.count(model::device_key(record))) continue;
        // DIR/<device>/<variant>, and one folder more where the run varied an axis.
        const auto folder = fs::path(record.dump);
        for (const auto& parent : {folder.parent_path(), folder.parent_path().parent_path()}) {
            auto portrait = portrait_from(parent / "profile.json", record);
            if (!portrait) continue;
            page.portraits.push_back(std::move(*portrait));
            done.insert(model::device_key(record));
            break;
        }
    }
}

void write_html(OutputFile& file, const std::vector<model::Record>& records,
                const std::vector<portrait::Conclusion>& conclusions, const std::vector<std::string>& verdicts) {
    if (records.empty()) return;
    require_page(records.size());
    Page page{records};
    page.may_be_auto = may_be_auto;
    const auto places = portrait::places_in_curves(records, conclusions);
    for (const auto& place : places) page.in_curve.push_back(place.has_value());
    page.curves = curves_of_page(records, conclusions, places);
    for (const auto& experiment : model::registry())
        page.questions.emplace_back(experiment.family, experiment.question);
    page.verdicts = verdicts;
    for (auto& history : histories(records)) {
        std::set<std::string> runs;
        for (const auto& point : history.points) runs.insert(point.run);
        constexpr std::size_t least_runs = 3;  // fewer make no series
        if (runs.size() >= least_runs) page.histories.push_back(std::move(history));
    }
    page.made = std::string("Made by cllab ") + version() + " on " + utc_now();
    add_code(page);
    add_portraits(page);
    std::ostringstream out;
    write_page(out, page);
    file.whole(out.str());
}

}  // namespace cllab::app
