#include <algorithm>

#include "core/units.hpp"
#include "report/records/csv_fields.hpp"
#include "report/records/exports.hpp"

namespace cllab::report {
namespace {

/// A number stays one: the sign that may begin it is no formula.
std::string axis_value(const model::Record& r, const std::string& axis) {
    for (const auto& [name, value] : r.point)
        if (name == axis) return parse_real(value) ? value : csv_text(value);
    return {};
}

}  // namespace

void export_long(const std::vector<model::Record>& records, const Lines& out) {
    std::vector<std::string> axes;
    for (const auto& r : records)
        for (const auto& [axis, value] : r.point)
            if (std::ranges::find(axes, axis) == axes.end()) axes.push_back(axis);
    std::vector<std::string> titles{"id", "family", "variant"};
    for (const auto& axis : axes) titles.push_back(csv_text("point_" + axis));
    for (const char* title : {"selector", "device", "platform", "driver", "host", "run", "label", "utc", "clock",
                              "cache", "per_sample", "sample", "round", "time_s"})
        titles.emplace_back(title);
    out(csv_line(titles));
    for (const auto& r : records) {
        if (!r.time || r.samples.empty()) continue;
        std::vector<std::string> fields{csv_text(r.id), csv_text(r.family), csv_text(r.variant)};
        for (const auto& axis : axes) fields.push_back(axis_value(r, axis));
        for (const auto& text : {r.device.selector, r.device.name, r.device.platform, r.device.driver, r.host.name,
                                 r.run.id, r.run.label, r.utc, r.time->clock, r.time->cache})
            fields.push_back(csv_text(text));
        fields.push_back(std::to_string(r.time->per_sample));
        const std::string cell = csv_line(fields);
        std::string rows;
        for (std::size_t i = 0; i < r.samples.size(); ++i) {
            const auto round = r.rounds.size() == r.samples.size() ? std::to_string(r.rounds[i]) : std::string();
            rows += (i ? "\n" : "") + cell + "," + csv_line({std::to_string(i), round, csv_number(r.samples[i])});
        }
        out(rows);
    }
}

}  // namespace cllab::report
