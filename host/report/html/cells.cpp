// All cells: one table, with an address for each cell that no card shows; and JSON for the script. That has at most 512
// samples per cell, as whole parts of the median. The JSON lines have all samples.
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
#include "report/table/explanation.hpp"

namespace cllab::report::html {
namespace {

struct NumberColumn {
    const char* title;
    std::function<std::optional<double>(const model::Record&)> value;
    std::string unit;
};

/// The columns with a value in some record.
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

/// Quantiles of the samples in ascending order, with the least and the largest. The first is in parts of the median,
/// the others are differences from the one before.
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
    // If all cells are ok, the status column is omitted: the times need its space.
    const bool all_ok = std::ranges::all_of(c.records(), [](const auto& r) { return r.status == model::Status::ok; });
    if (!all_ok) titles.emplace_back("status");
    for (const auto& column : columns) titles.emplace_back(column.title);
    titles.emplace_back("warnings");
    out << fmt::format("<section>\n{}<div class=\"scroll tall\" tabindex=\"0\"><table id=\"table\">{}<tbody>\n",
                       heading(2, "cells", "All cells"), head_of(titles));
    for (const auto i : ranked_order(c)) {
        const auto& r = c.records()[i];
        out << (c.in_card[i] ? "<tr" : fmt::format(R"(<tr id="{}")", text(c.anchors[i])));
        out << fmt::format(R"( data-cell="{}"><th>{}</th>)", i, c.link(i, r.id));
        if (c.devices.size() > 1) out << cell(c.devices[c.device_of[i]].name);
        if (!c.varying.empty()) out << cell(c.varying_point(r));
        if (!all_ok)
            out << fmt::format("<td{}>{}{}</td>", model::is_failure(r.status) ? R"( class="bad")" : "",
                               model::name(r.status),
                               r.reason.empty() ? "" : "<small>" + text(one_line(r.reason)) + "</small>");
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
    // Only text that begins with "<" can end or change a script element.
    return join(split(line_text(out), '<'), "\\u003c");
}

// The samples of a record as a density.

namespace {

/// Heights of a Gaussian kernel density at `steps` + 1 places from `low` to `high`; the largest is 1. Kernels have half
/// of Silverman's width, which suits one mode and hides a second one.
std::vector<double> density(const std::vector<double>& sorted, double low, double high, int steps) {
    const double n = static_cast<double>(sorted.size());
    const double iqr = quantile(sorted, 0.75) - quantile(sorted, 0.25);
    const double width = std::max(0.45 * iqr / 1.34 * std::pow(n, -0.2), (high - low) / steps);
    std::vector<double> out;
    for (int i = 0; i <= steps; ++i) {
        const double x = low + (high - low) * i / steps;
        double sum = 0;
        for (const double s : sorted) {
            const double z = (s - x) / width;
            if (std::abs(z) < 4) sum += std::exp(-z * z / 2);
        }
        out.push_back(sum);
    }
    const double most = *std::ranges::max_element(out);
    for (auto& y : out) y = most > 0 ? y / most : 0;
    return out;
}

}  // namespace

void write_density(std::ostream& out, const model::Record& r) {
    auto sorted = r.samples;
    std::ranges::sort(sorted);
    if (sorted.size() < 8 || !(sorted.back() > sorted.front())) {
        out << fmt::format(R"(<span class="dim">{}</span>)",
                           sorted.empty()
                               ? "no samples"
                               : fmt::format("{}{} samples", sorted.size(), sorted.size() < 8 ? "" : " equal"));
        return;
    }
    // A few outliers must not compress the rest into one peak. They are counted next to the chart.
    const double inner_low = quantile(sorted, 0.02), inner_high = quantile(sorted, 0.98),
                 margin = 0.1 * (inner_high - inner_low);
    const double low = inner_high > inner_low ? std::max(sorted.front(), inner_low - margin) : sorted.front();
    const double high = inner_high > inner_low ? std::min(sorted.back(), inner_high + margin) : sorted.back();
    constexpr int steps = 60;
    std::string path = "M0 28";
    for (int i = 0; const double height : density(sorted, low, high, steps))
        path += fmt::format("L{} {}", i++, format_exact(std::round(10 * (28 - 26 * height)) / 10));
    out << R"(<svg class="density" viewBox="0 0 60 28" preserveAspectRatio="none" role="img" )";
    out << fmt::format(R"(aria-label="density of the samples"><path d="{}L60 28Z"/></svg>)", path);
    out << fmt::format(R"(<span class="range"><span>{}</span><span>{}</span></span>)", format_seconds(low),
                       format_seconds(high));
    const auto beyond = std::ranges::count_if(sorted, [&](double s) { return s < low || s > high; });
    constexpr double worth_saying = 1.25;  // full range over drawn range
    if (beyond > 0 && sorted.back() - sorted.front() > worth_saying * (high - low))
        out << fmt::format(R"(<span class="beyond">{} of {} outside, {} to {}</span>)", beyond, sorted.size(),
                           format_seconds(sorted.front()), format_seconds(sorted.back()));
}

// What limits the time of a record, from the bounds in its explanation.

namespace {

using model::Limit;

/// The stylesheet's class of a limiter, by its brief name.
const char* colour_of(const std::string& brief) {
    const auto begins = [&](std::initializer_list<const char*> words) {
        return std::ranges::any_of(words, [&](const char* word) { return brief.starts_with(word); });
    };
    if (begins({"memory", "L1", "L2", "L3", "L4"})) return "t-memory";
    if (begins({"launch", "groups"})) return "t-launch";
    if (begins({"local", "barriers", "atomics"})) return "t-shared";
    return brief.ends_with(" latency") ? "t-memory" : "t-compute";
}

}  // namespace

std::optional<Tag> limit_of(const Context& c, std::size_t cell) {
    const auto& r = c.records()[cell];
    const auto found = c.page.explanations.find(cell);
    if (!r.time) return std::nullopt;
    if (found == c.page.explanations.end()) {
        if (r.limit.empty()) return std::nullopt;
        return r.limit == "-"
                   ? Tag{"t-none", "not explained", "the bounds known in this run explain too little of the time"}
                   : Tag{colour_of(r.limit), r.limit, ""};
    }
    const auto& e = found->second;
    const auto sentence = limit_statement(r, e);
    const double part = explained(e, *r.time);
    if (const auto* limiter = e.limiter()) {
        const auto then = e.follower() ? "+" + e.follower()->brief : "";
        return Tag{colour_of(limiter->brief), limiter->brief + then + " " + whole_percent(part), sentence};
    }
    const auto words = (e.limit == Limit::close ? "not told apart" : model::name(e.limit)) +
                       (e.limit == Limit::unexplained && !e.bounds.empty() ? " " + whole_percent(1 - part) : "");
    return Tag{e.limit == Limit::impossible ? "t-wrong" : "t-none", words, sentence};
}

std::string limit_tag(const Context& c, std::size_t cell) {
    const auto tag = limit_of(c, cell);
    if (!tag) return "";
    return fmt::format(R"(<span class="tag {}"{}>{}</span>)", tag->style,
                       tag->title.empty() ? "" : " title=\"" + text(tag->title) + "\"", text(tag->words));
}

void write_bounds(std::ostream& out, const Context& c, std::size_t cell) {
    const auto found = c.page.explanations.find(cell);
    const auto& r = c.records()[cell];
    if (found == c.page.explanations.end() || !r.time) return;
    const auto& e = found->second;
    out << fmt::format("<h5>what limits it</h5>\n<p>{}</p>\n<table class=\"bounds\"><tbody>\n",
                       text(limit_statement(r, e)));
    for (const auto& b : e.bounds) {
        const double part = b.seconds / r.time->median;
        out << "<tr>" << number_cell(whole_percent(part));
        out << fmt::format(
            R"(<td class="share"><svg width="100%" height="12"><rect class="{}" height="12" width="{}"/></svg></td>)",
            colour_of(b.brief), percent(std::clamp(part, 0.0, 1.0)));
        out << fmt::format("<td>{}, {} <small>{}</small></td></tr>\n", text(b.name), format_seconds(b.seconds),
                           text(b.how));
    }
    out << "</tbody></table>\n";
    for (const auto& why : e.contradictions) out << fmt::format("<p class=\"bad\">{}</p>\n", text(why));
    if (!e.advice.empty()) out << fmt::format("<p>What costs time: {}</p>\n", text(e.advice));
    if (!e.unbounded.empty())
        out << fmt::format("<details><summary>{} without a bound</summary><ul>{}</ul></details>\n", e.unbounded.size(),
                           join(e.unbounded, "", [](const auto& u) {
                               return fmt::format("<li>{}: {}</li>", text(u.first), text(u.second));
                           }));
}

}  // namespace cllab::report::html
