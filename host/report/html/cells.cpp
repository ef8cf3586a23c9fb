// Every cell: in one table, with an address where no card shows it, and for the script, short: at most 512 samples a
// cell, as whole parts of the median. The rest is in the JSON lines.
#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <ostream>

#include "core/stats.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "report/html/context.hpp"
#include "report/html/markup.hpp"
#include "report/records/json.hpp"

namespace cllab::report::html {
namespace {

struct NumberColumn {
    const char* title;
    std::function<std::optional<double>(const model::Record&)> value;
    std::string unit;
};

/// Those that some record has.
std::vector<NumberColumn> columns_of(const std::vector<model::Record>& records) {
    const auto of_metric = [](const char* name) {
        return [name](const model::Record& r) { return metric_value(r, name); };
    };
    const auto of_time = [](auto model::Timing::*part, bool of_interval = false) {
        return [=](const model::Record& r) -> std::optional<double> {
            if (!r.time || (of_interval && !r.time->has_interval())) return std::nullopt;
            return (*r.time).*part;
        };
    };
    const auto of_code = [](std::optional<std::int64_t> model::CodeInfo::*count) {
        return [count](const model::Record& r) -> std::optional<double> { return r.code.*count; };
    };
    std::vector<NumberColumn> columns{
        {"median time", of_time(&model::Timing::median), "s"},
        {"interval from", of_time(&model::Timing::low, true), "s"},
        {"to", of_time(&model::Timing::high, true), "s"},
        {"samples", of_time(&model::Timing::n), ""},
        {"bandwidth", of_metric("bandwidth"), "B/s"},
        {"arithmetic", of_metric("flops"), "FLOP/s"},
        {"of copy", of_metric("of_copy"), "%"},
        {"energy", [](const model::Record& r) { return r.energy ? std::optional(r.energy->joules) : std::nullopt; },
         "J"},
        {"upload", of_metric("upload"), "s"},
        {"download", of_metric("download"), "s"},
        {"registers", of_code(&model::CodeInfo::registers), ""},
        {"spills", of_code(&model::CodeInfo::spills), ""},
    };
    std::erase_if(columns, [&](const auto& column) {
        return std::ranges::none_of(records, [&](const auto& r) { return column.value(r).has_value(); });
    });
    return columns;
}

using Json = nlohmann::ordered_json;

constexpr std::size_t most_samples = 512;
constexpr double parts = 10'000;  // of the median: 0.01 %

/// Quantiles of the samples in order, the extremes among them: the least in parts of the median, then the steps up.
Json steps_of(const model::Record& r) {
    Json out = Json::array();
    if (!r.time || !(r.time->median > 0)) return out;
    auto sorted = r.samples;
    std::ranges::sort(sorted);
    const auto n = std::min(most_samples, sorted.size());
    long long before = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double value = sorted.size() <= most_samples
                                 ? sorted[i]
                                 : quantile(sorted, static_cast<double>(i) / static_cast<double>(n - 1));
        const auto at = std::llround(std::clamp(value / r.time->median, -1e9, 1e9) * parts);
        out.push_back(at - before);
        before = at;
    }
    return out;
}

}  // namespace

void write_cells(std::ostream& out, const Context& c) {
    const auto columns = columns_of(c.records());
    std::vector<std::string> titles{"kernel"};
    if (c.devices.size() > 1) titles.emplace_back("device");
    if (!c.varying.empty()) titles.emplace_back("point");
    titles.emplace_back("status");
    for (const auto& column : columns) titles.emplace_back(column.title);
    titles.emplace_back("warnings");
    out << fmt::format("<section>\n{}<div class=\"scroll tall\" tabindex=\"0\"><table id=\"table\">{}<tbody>\n",
                       heading(2, "cells", "All cells"), head_of(titles));
    for (std::size_t i = 0; i < c.records().size(); ++i) {
        const auto& r = c.records()[i];
        out << (c.in_card[i] ? "<tr" : fmt::format(R"(<tr id="{}")", text(c.anchors[i])));
        out << fmt::format(R"( data-cell="{}"><th>{}</th>)", i, c.link(i, r.id));
        if (c.devices.size() > 1) out << cell(c.devices[c.device_of[i]].name);
        if (!c.varying.empty()) out << cell(c.varying_point(r));
        out << fmt::format("<td{}>{}", model::is_failure(r.status) ? R"( class="bad")" : "", model::name(r.status));
        if (r.status != model::Status::ok) out << fmt::format("<small>{}</small>", text(one_line(r.reason)));
        out << "</td>";
        for (const auto& column : columns) {
            const auto value = column.value(r);
            if (!value)
                out << "<td></td>";
            else
                out << fmt::format(R"(<td class="n" data-v="{}">{}</td>)", format_exact(*value),
                                   text(quantity(*value, column.unit)));
        }
        const auto link = [](auto number) { return fmt::format("<a href=\"#warning-{0}\">{0}</a>", number); };
        out << fmt::format("<td>{}</td></tr>\n", join(c.warnings.of(r), " ", link));
    }
    out << "</tbody></table></div>\n</section>\n";
}

std::string data_json(const Context& c) {
    Json out{{"parts", parts}, {"devices", Json::array()}, {"warnings", Json::array()}, {"cells", Json::array()}};
    for (const auto& device : c.devices)
        out["devices"].push_back({{"name", printable(device.name)}, {"description", printable(device.description)}});
    for (const auto& note : c.warnings.all()) out["warnings"].push_back(printable(note.text));
    for (std::size_t i = 0; i < c.records().size(); ++i) {
        const auto& r = c.records()[i];
        Json cell{{"id", printable(r.id)},
                  {"device", c.device_of[i]},
                  {"anchor", c.anchors[i]},
                  {"point", Json::object()},
                  {"status", model::name(r.status)}};
        for (const auto& [axis, value] : r.point) cell["point"][printable(axis)] = printable(value);
        if (!r.reason.empty()) cell["reason"] = printable(one_line(r.reason));
        if (r.time) {
            cell["median"] = r.time->median;
            if (r.time->has_interval()) cell["interval"] = {r.time->low, r.time->high};
            cell["n"] = r.time->n;
            cell["samples"] = steps_of(r);
        }
        for (const auto& [name, metric] : r.metrics)
            if (std::isfinite(metric.value)) cell["metrics"][printable(name)] = {metric.value, printable(metric.unit)};
        if (r.code.registers) cell["registers"] = *r.code.registers;
        if (r.code.spills) cell["spills"] = *r.code.spills;
        for (const auto number : c.warnings.of(r)) cell["warnings"].push_back(number - 1);
        out["cells"].push_back(std::move(cell));
    }
    // "<" begins whatever could end or change a script element.
    return join(split(line_text(out), '<'), "\\u003c");
}

}  // namespace cllab::report::html
