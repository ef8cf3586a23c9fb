#include "report/records/csv.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <map>
#include <string_view>
#include <utility>

#include "core/grouped.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "model/record_fields.hpp"
#include "report/records/points.hpp"

namespace cllab::report {
namespace {

/// Quotes a field if RFC 4180 requires it (separator, quote, line break), or if it has outer blanks that a reader may
/// trim.
std::string field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos && trim(text) == text) return text;
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    return out += '"';
}

/// The fields on one line, quoted if needed.
std::string csv_line(std::vector<std::string> fields) {
    for (auto& text : fields) text = field(text);
    return join(fields, ",");
}

/// Printable text that is no formula. A spreadsheet computes a field that begins with one of =+-@, and anyone may have
/// written the text.
std::string csv_text(const std::string& raw) {
    const std::string text = printable(raw);
    const auto first = text.find_first_not_of(' ');
    return first != std::string::npos && std::string_view("=+-@").find(text[first]) != std::string_view::npos
               ? "'" + text
               : text;
}

/// The shortest text that reads back as the same number, in any locale; empty if the number is not finite.
std::string csv_number(double value) {
    if (!std::isfinite(value)) return {};
    std::array<char, 32> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    return {buffer.data(), end.ptr};
}

struct MetricColumn {
    std::string_view metric, title;
};
constexpr std::array<MetricColumn, 6> metric_columns{{{"bandwidth", "bandwidth_bytes_per_s"},
                                                      {"flops", "flop_per_s"},
                                                      {"step_time", "step_time_s"},
                                                      {"of_copy", "of_copy_percent"},
                                                      {"upload", "upload_s"},
                                                      {"download", "download_s"}}};

constexpr auto assignment = [](const auto& one) { return concat(one.first, "=", one.second); };

/// Collects the columns of all fields that have one.
class Columns : public model::Fields<Columns> {
public:
    static constexpr bool reads = false;

    template <class T>
    void field(const char*, const T& member, const model::FieldRow& row) {
        if constexpr (requires(Columns & c) { fields(c, member); })
            fields(*this, member);
        else if constexpr (requires { text_of(member, row); })
            if (*row.title) put(row.title, row.now && there_ ? text_of(member, row) : std::string());
    }
    /// If the member is absent, its columns are empty.
    template <class T>
    void field(const char* key, const std::optional<T>& member, const model::FieldRow& row) {
        const bool outer = std::exchange(there_, there_ && member);
        field(key, member ? *member : T{}, row);
        there_ = outer;
    }
    void field(const char*, const std::vector<std::pair<std::string, model::MetricValue>>& metrics,
               const model::FieldRow&) {
        std::array<std::string, metric_columns.size()> values;
        std::vector<std::string> others;
        for (const auto& [name, metric] : metrics) {
            const auto column =
                std::ranges::find_if(metric_columns, [&, &name = name](const auto& c) { return c.metric == name; });
            if (column != metric_columns.end())
                values[static_cast<std::size_t>(column - metric_columns.begin())] = csv_number(metric.value);
            else if (std::isfinite(metric.value))
                others.push_back(name + "=" + csv_number(metric.value) +
                                 (metric.unit.empty() ? "" : " " + metric.unit));
        }
        for (std::size_t i = 0; i < values.size(); ++i) put(metric_columns[i].title, std::move(values[i]));
        put("other_metrics", csv_text(join(others, ";")));
    }
    void sampled(const char*, const char*, const std::vector<double>&, const std::vector<unsigned>&,
                 const model::FieldRow&, const model::FieldRow&) {}

    std::vector<std::string> titles, texts;

private:
    void put(std::string_view title, std::string text) {
        titles.emplace_back(title);
        texts.push_back(std::move(text));
    }
    static std::string text_of(const std::string& text, const model::FieldRow& row) {
        return csv_text(row.as ? row.as(text) : text);
    }
    static std::string text_of(double value, const model::FieldRow&) { return csv_number(value); }
    static std::string text_of(std::integral auto value, const model::FieldRow&) { return std::to_string(value); }
    static std::string text_of(model::Status status, const model::FieldRow&) { return model::name(status); }
    static std::string text_of(const std::vector<std::string>& texts, const model::FieldRow&) {
        return csv_text(join(texts, "; "));
    }
    static std::string text_of(const model::PointValues& point, const model::FieldRow&) {
        return csv_text(join(point, ";", assignment));
    }
    static std::string text_of(const std::map<std::string, std::int64_t>& counts, const model::FieldRow&) {
        return csv_text(join(counts, ";", assignment));
    }

    bool there_ = true;
};

Columns columns_of(const model::Record& record) {
    Columns out;
    fields(out, record);
    return out;
}

}  // namespace

std::string csv_header() { return csv_line(columns_of({}).titles); }

std::string to_csv_line(const model::Record& record) { return csv_line(columns_of(record).texts); }

void write_long_csv(const std::vector<model::Record>& records, const Lines& out) {
    std::vector<std::string> axes;
    for (const auto& r : records)
        for (const auto& [axis, value] : r.point) add_once(axes, axis);
    std::vector<std::string> titles{"id", "family", "variant"};
    for (const auto& axis : axes) titles.push_back(csv_text("point_" + axis));
    titles.insert(titles.end(), {"selector", "device", "platform", "driver", "host", "run", "label", "utc", "clock",
                                 "cache", "per_sample", "sample", "round", "time_s"});
    out(csv_line(titles));
    for (const auto& r : records) {
        if (!r.time || r.samples.empty()) continue;
        std::vector<std::string> fields{csv_text(r.id), csv_text(r.family), csv_text(r.variant)};
        for (const auto& axis : axes) {
            const auto& value = value_at(r.point, axis);
            fields.push_back(parse_real(value) ? value : csv_text(value));  // a number's sign does not begin a formula
        }
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
