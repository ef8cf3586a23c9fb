#include "report/table/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "core/text.hpp"
#include "core/units.hpp"
#include "report/records/json_point.hpp"
#include "report/table/columns.hpp"

namespace cllab::report {
namespace {

using Json = nlohmann::ordered_json;

std::string name_of(const model::History& history) {
    std::string out = history.id;
    for (const auto& [axis, value] : history.point) out += " " + axis + "=" + value;
    return out;
}

}  // namespace

void print_history(std::ostream& out, const std::vector<model::History>& histories, const TableStyle& style) {
    Column names{.title = "cell", .cells = {}, .names = Names::by_itself}, since{.title = "level since", .cells = {}},
        change{.title = "change", .right = true, .cells = {}}, runs{.title = "runs", .right = true, .cells = {}},
        notes{.title = "", .keep = 90, .cells = {}, .key = "note"}, devices{.title = "device", .keep = 20, .cells = {}};
    std::vector<std::optional<double>> times;
    const auto add = [&](const model::History& h, std::size_t i) {
        const auto& level = h.levels[i];
        const auto& first = h.points[level.first];
        names.cells.push_back(i == 0 ? name_of(h) : "");
        devices.cells.push_back(i == 0 ? h.device.name : "");
        since.cells.push_back(first.utc + (first.label.empty() ? "" : " " + first.label));
        times.push_back(std::exp(level.centre));
        change.cells.push_back(
            i == 0 ? "" : fmt::format("{:+.1f} %", 100 * std::expm1(level.centre - h.levels[i - 1].centre)));
        runs.cells.push_back(std::to_string(level.count));
        notes.cells.push_back(level.provisional ? "provisional" : "");
    };
    std::vector<const model::History*> changed, steady;
    for (const auto& h : histories) (h.levels.size() > 1 ? changed : steady).push_back(&h);
    for (const auto* list : {&changed, &steady})
        for (const auto* h : *list)
            for (std::size_t i = 0; i < h->levels.size(); ++i) add(*h, i);
    auto medians = quantity_column("time", times, "s");
    medians.key = "time";
    print_grid(out, {names, since, medians, change, runs, notes, devices}, style);
    out << '\n'
        << wrap(fmt::format("{} of {} cells changed their level by more than 1 %. A level that begins in the last "
                            "three runs is provisional. Different runs share no arrangement, so a change here is a "
                            "hint; `cllab regress` is the test.",
                            changed.size(), histories.size()),
                "", style.text_width());
}

std::vector<std::string> history_json(const std::vector<model::History>& histories) {
    std::vector<std::string> out;
    for (const auto& h : histories) {
        Json j{{"schema", model::schema_version},
               {"record", "history"},
               {"id", h.id},
               {"point", point_json(h.point)},
               {"device", device_json(h.device)},
               {"points", Json::array()},
               {"levels", Json::array()}};
        for (const auto& p : h.points)
            j["points"].push_back({{"utc", p.utc}, {"label", p.label}, {"run", p.run}, {"seconds", p.seconds}});
        for (const auto& l : h.levels)
            j["levels"].push_back({{"first", l.first},
                                   {"count", l.count},
                                   {"seconds", std::exp(l.centre)},
                                   {"provisional", l.provisional}});
        out.push_back(j.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
    return out;
}

}  // namespace cllab::report
