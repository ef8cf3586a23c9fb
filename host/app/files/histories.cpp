#include "app/files/histories.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "compare/level_changes.hpp"
#include "core/text.hpp"

namespace cllab::app {

std::vector<model::History> histories(const std::vector<model::Record>& records) {
    std::vector<model::History> out;
    std::map<std::string, std::size_t> at;
    for (std::size_t i = 0; i < records.size(); ++i) {
        const auto& record = records[i];
        if (record.status != model::Status::ok || !record.time || !(record.time->median > 0)) continue;
        std::vector<std::string> key{
            record.id,        record.device.platform, record.device.name, record.device.identity,
            record.host.name, record.time->cache,     record.launch,      record.build.options};
        for (const auto& [axis, value] : record.point) key.push_back(axis + "=" + value);
        const auto [found, is_new] = at.emplace(join(key, "\n"), out.size());
        if (is_new) out.push_back({record.id, record.point, record.device, {}, {}});
        out[found->second].points.push_back({record.utc, record.run.label, record.run.id, record.time->median, i});
    }
    for (auto& history : out) {
        std::ranges::stable_sort(history.points, [](const auto& a, const auto& b) { return a.utc < b.utc; });
        constexpr std::size_t most = 5000;
        if (history.points.size() > most) history.points.erase(history.points.begin(), history.points.end() - most);
        std::vector<double> logs;
        for (const auto& point : history.points) logs.push_back(std::log(point.seconds));
        history.levels = compare::levels(logs);
    }
    return out;
}

}  // namespace cllab::app
