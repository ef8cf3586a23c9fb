// Every cell in one table, each with an address of its own.
#include <algorithm>
#include <functional>
#include <ostream>

#include "core/text.hpp"
#include "report/html/context.hpp"
#include "report/html/markup.hpp"

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
    const auto count = [](const std::optional<std::int64_t>& n) {
        return n ? std::optional(static_cast<double>(*n)) : std::nullopt;
    };
    std::vector<NumberColumn> columns{
        {"median time", [](const auto& r) { return r.time ? std::optional(r.time->median) : std::nullopt; }, "s"},
        {"interval from",
         [](const auto& r) { return r.time && r.time->has_interval() ? std::optional(r.time->low) : std::nullopt; },
         "s"},
        {"to",
         [](const auto& r) { return r.time && r.time->has_interval() ? std::optional(r.time->high) : std::nullopt; },
         "s"},
        {"samples", [](const auto& r) { return r.time ? std::optional(static_cast<double>(r.time->n)) : std::nullopt; },
         ""},
        {"bandwidth", of_metric("bandwidth"), "B/s"},
        {"arithmetic", of_metric("flops"), "FLOP/s"},
        {"of copy", of_metric("of_copy"), "%"},
        {"upload", of_metric("upload"), "s"},
        {"download", of_metric("download"), "s"},
        {"registers", [&](const auto& r) { return count(r.code.registers); }, ""},
        {"spills", [&](const auto& r) { return count(r.code.spills); }, ""},
    };
    std::erase_if(columns, [&](const auto& column) {
        return std::ranges::none_of(records, [&](const auto& r) { return column.value(r).has_value(); });
    });
    return columns;
}

}  // namespace

void write_cells(std::ostream& out, const Context& c) {
    const auto columns = columns_of(c.records());
    out << "<section>\n"
        << heading(2, "cells", "All cells")
        << "<div class=\"scroll tall\" tabindex=\"0\"><table id=\"table\"><thead><tr><th>kernel</th>";
    if (c.devices.size() > 1) out << "<th>device</th>";
    if (!c.varying.empty()) out << "<th>point</th>";
    out << "<th>status</th>";
    for (const auto& column : columns) out << "<th>" << column.title << "</th>";
    out << "<th>warnings</th></tr></thead><tbody>\n";
    for (std::size_t i = 0; i < c.records().size(); ++i) {
        const auto& r = c.records()[i];
        out << "<tr id=\"" << text(c.anchors[i]) << "\" data-cell=\"" << i << "\"><th>" << c.link(i, r.id) << "</th>";
        if (c.devices.size() > 1) out << "<td>" << text(c.devices[c.device_of[i]].name) << "</td>";
        if (!c.varying.empty()) out << "<td>" << text(c.varying_point(r)) << "</td>";
        out << "<td" << (model::is_failure(r.status) ? " class=\"bad\"" : "") << ">" << model::name(r.status);
        if (r.status != model::Status::ok) out << "<small>" << text(one_line(r.reason)) << "</small>";
        out << "</td>";
        for (const auto& column : columns) {
            const auto value = column.value(r);
            if (!value)
                out << "<td></td>";
            else
                out << "<td class=\"n\" data-v=\"" << exact(*value) << "\">" << text(quantity(*value, column.unit))
                    << "</td>";
        }
        out << "<td>";
        auto numbers = c.warnings_of[i];
        std::ranges::sort(numbers);
        numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
        for (std::size_t k = 0; k < numbers.size(); ++k)
            out << (k ? " " : "") << "<a href=\"#warning-" << numbers[k] + 1 << "\">" << numbers[k] + 1 << "</a>";
        out << "</td></tr>\n";
    }
    out << "</tbody></table></div>\n</section>\n";
}

}  // namespace cllab::report::html
