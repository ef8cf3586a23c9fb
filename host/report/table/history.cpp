// The times of cells over many runs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "core/grouped.hpp"
#include "report/records/json.hpp"
#include "report/records/points.hpp"
#include "report/table/columns.hpp"
#include "report/table/regression.hpp"

namespace cllab::report {

using Json = nlohmann::ordered_json;

std::string since(const model::History& h, std::size_t level) {
    const auto& first = h.points[h.levels[level].first];
    return first.utc + (first.label.empty() ? "" : " " + first.label);
}

std::string change_of(const model::History& h, std::size_t level) {
    return fmt::format("{:+.1f} %", 100 * std::expm1(h.levels[level].centre - h.levels[level - 1].centre));
}

std::vector<const model::History*> changed_first(const std::vector<model::History>& histories, std::size_t& changed) {
    auto out = mapped(histories, [](const auto& h) { return &h; });
    const auto steady =
        std::stable_partition(out.begin(), out.end(), [](const auto* h) { return h->levels.size() > 1; });
    changed = static_cast<std::size_t>(steady - out.begin());
    return out;
}

/// With the build options, where they alone tell two cells apart.
std::string title_of(const model::History& h, const std::vector<model::History>& all) {
    const bool built_twice = std::ranges::any_of(all, [&](const auto& other) {
        return other.id == h.id && other.point == h.point && other.device.name == h.device.name &&
               other.options != h.options;
    });
    return cell_title(h.id, h.point) + (built_twice ? " (" + (h.options.empty() ? "no options" : h.options) + ")" : "");
}

void print_history(std::ostream& out, const std::vector<model::History>& histories, const TableStyle& style) {
    std::vector<Column> columns{{.title = "cell", .names = Names::by_itself}, {.title = "level since"},
                                {.title = "change", .right = true},           {.title = "runs", .right = true},
                                {.title = "", .keep = 90, .key = "note"},     {.title = "device", .keep = 20}};
    std::vector<std::optional<double>> times;
    std::size_t changed = 0;
    for (const auto* h : changed_first(histories, changed))
        for (std::size_t i = 0; i < h->levels.size(); ++i) {
            const auto& level = h->levels[i];
            const bool first = i == 0;
            add_row(columns,
                    {first ? title_of(*h, histories) : "", since(*h, i), first ? "" : change_of(*h, i),
                     std::to_string(level.count), level.provisional ? "provisional" : "", first ? h->device.name : ""});
            times.push_back(std::exp(level.centre));
        }
    columns.insert(columns.begin() + 2, quantity_column({.title = "time", .key = "time"}, times, "s"));
    print_grid(out, columns, style);
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
        j["options"] = h.options;
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
