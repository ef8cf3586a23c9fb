#include "report/records/csv.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

#include "core/text.hpp"
#include "report/records/csv_fields.hpp"

namespace cllab::report {
namespace {

/// Quoted where RFC 4180 asks for it: separator, quote, line break; and at blanks a reader might trim.
std::string field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos && trim(text) == text) return text;
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    return out += '"';
}

std::string whole(const std::optional<std::int64_t>& value) { return value ? std::to_string(*value) : std::string(); }

struct MetricColumn {
    std::string_view metric, title;
};
constexpr std::array<MetricColumn, 6> metric_columns{{{"bandwidth", "bandwidth_bytes_per_s"},
                                                      {"flops", "flop_per_s"},
                                                      {"step_time", "step_time_s"},
                                                      {"of_copy", "of_copy_percent"},
                                                      {"upload", "upload_s"},
                                                      {"download", "download_s"}}};

const model::MetricValue* find(const model::Record& record, std::string_view metric) {
    for (const auto& [name, value] : record.metrics)
        if (name == metric) return &value;
    return nullptr;
}

}  // namespace

std::string csv_text(const std::string& raw) {
    const std::string text = printable(raw);
    const auto first = text.find_first_not_of(' ');
    return first != std::string::npos && std::string_view("=+-@").find(text[first]) != std::string_view::npos
               ? "'" + text
               : text;
}

std::string csv_number(double value) {
    if (!std::isfinite(value)) return {};
    std::array<char, 32> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    return {buffer.data(), end.ptr};
}

std::string csv_line(std::vector<std::string> fields) {
    for (auto& text : fields) text = field(text);
    return join(fields, ",");
}

std::string csv_header() {
    std::vector<std::string> titles{"id",     "family", "variant", "point",    "selector", "device", "platform",
                                    "driver", "status", "reason",  "median_s", "low_s",    "high_s", "min_s",
                                    "q1_s",   "q3_s",   "mad_s",   "n",        "clock",    "cache"};
    for (const auto& column : metric_columns) titles.emplace_back(column.title);
    for (const char* title : {"other_metrics", "registers", "spills", "loop", "code", "dump", "warnings", "utc",
                              "label", "run", "checked_by"})
        titles.emplace_back(title);
    return csv_line(titles);
}

std::string to_csv_line(const model::Record& r) {
    std::vector<std::string> point, others;
    for (const auto& [axis, value] : r.point) point.push_back(axis + "=" + value);
    std::vector<std::string> fields{
        r.id,          r.family,          r.variant,       join(point, ";"),      r.device.selector,
        r.device.name, r.device.platform, r.device.driver, model::name(r.status), one_line(r.reason)};
    for (auto& text : fields) text = csv_text(text);
    const model::Timing t = r.time.value_or(model::Timing{});
    const auto time = [&](double seconds, bool there) {
        fields.push_back(there ? csv_number(seconds) : std::string());
    };
    time(t.median, r.time.has_value());
    for (const double seconds : {t.low, t.high}) time(seconds, t.has_interval());
    for (const double seconds : {t.min, t.q1, t.q3, t.mad}) time(seconds, r.time.has_value());
    fields.push_back(r.time ? std::to_string(t.n) : std::string());
    fields.push_back(csv_text(t.clock));
    fields.push_back(csv_text(t.cache));
    for (const auto& column : metric_columns) {
        const auto* metric = find(r, column.metric);
        fields.push_back(metric ? csv_number(metric->value) : std::string());
    }
    for (const auto& [name, metric] : r.metrics) {
        bool has_column = false;
        for (const auto& column : metric_columns) has_column = has_column || column.metric == name;
        if (!has_column && std::isfinite(metric.value))
            others.push_back(name + "=" + csv_number(metric.value) + (metric.unit.empty() ? "" : " " + metric.unit));
    }
    fields.push_back(csv_text(join(others, ";")));
    fields.push_back(whole(r.code.registers));
    fields.push_back(whole(r.code.spills));
    std::vector<std::string> loop;
    for (const auto& [what, count] : r.code.loop) loop.push_back(what + "=" + std::to_string(count));
    fields.push_back(csv_text(join(loop, ";")));
    for (const auto& text : {r.code.kind, r.dump, join(r.warnings, "; "), r.utc, r.run.label, r.run.id, r.checked_by})
        fields.push_back(csv_text(text));
    return csv_line(fields);
}

}  // namespace cllab::report
