#include "report/table/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "report/records/json_point.hpp"
#include "report/records/points.hpp"
#include "report/table/columns.hpp"

namespace cllab::report {
namespace {

using Json = nlohmann::ordered_json;

std::string name_of(const model::History& history) {
    return history.id + (history.point.empty() ? "" : " " + point_text(history.point));
}

}  // namespace

std::string change_of(const model::History& h, std::size_t level) {
    return fmt::format("{:+.1f} %", 100 * std::expm1(h.levels[level].centre - h.levels[level - 1].centre));
}

std::vector<const model::History*> changed_first(const std::vector<model::History>& histories, std::size_t& changed) {
    std::vector<const model::History*> out;
    for (const auto& h : histories) out.push_back(&h);
    const auto steady =
        std::stable_partition(out.begin(), out.end(), [](const auto* h) { return h->levels.size() > 1; });
    changed = static_cast<std::size_t>(steady - out.begin());
    return out;
}

void print_history(std::ostream& out, const std::vector<model::History>& histories, const TableStyle& style) {
    Column names{.title = "cell", .names = Names::by_itself}, since{.title = "level since"},
        change{.title = "change", .right = true}, runs{.title = "runs", .right = true},
        notes{.title = "", .keep = 90, .key = "note"}, devices{.title = "device", .keep = 20};
    std::vector<std::optional<double>> times;
    const auto add = [&](const model::History& h, std::size_t i) {
        const auto& level = h.levels[i];
        const auto& first = h.points[level.first];
        names.cells.push_back(i == 0 ? name_of(h) : "");
        devices.cells.push_back(i == 0 ? h.device.name : "");
        since.cells.push_back(first.utc + (first.label.empty() ? "" : " " + first.label));
        times.push_back(std::exp(level.centre));
        change.cells.push_back(i == 0 ? "" : change_of(h, i));
        runs.cells.push_back(std::to_string(level.count));
        notes.cells.push_back(level.provisional ? "provisional" : "");
    };
    std::size_t changed = 0;
    for (const auto* h : changed_first(histories, changed))
        for (std::size_t i = 0; i < h->levels.size(); ++i) add(*h, i);
    auto medians = quantity_column("time", times, "s");
    medians.key = "time";
    print_grid(out, {names, since, medians, change, runs, notes, devices}, style);
    out << '\n'
        << wrap(fmt::format("{} of {} cells changed their level by more than 1 %. A level that begins in the last "
                            "three runs is provisional. Different runs share no arrangement, so a change here is a "
                            "hint; `cllab regress` is the test.",
                            changed, histories.size()),
                "", style.text_width());
}

std::vector<std::string> history_json(const std::vector<model::History>& histories) {
    std::vector<std::string> out;
    for (const auto& h : histories) {
        auto j = line_of("history", h.id, h.point, h.device);
        j.update({{"points", Json::array()}, {"levels", Json::array()}});
        for (const auto& p : h.points)
            j["points"].push_back({{"utc", p.utc}, {"label", p.label}, {"run", p.run}, {"seconds", p.seconds}});
        for (const auto& l : h.levels)
            j["levels"].push_back({{"first", l.first},
                                   {"count", l.count},
                                   {"seconds", std::exp(l.centre)},
                                   {"provisional", l.provisional}});
        out.push_back(line_text(j));
    }
    return out;
}

}  // namespace cllab::report
