// Curves over an axis, with what the probe concluded.
#include <algorithm>
#include <limits>
#include <map>
#include <ostream>
#include <span>

#include "core/grouped.hpp"
#include "report/html/chart.hpp"
#include "report/html/context.hpp"
#include "report/table/curve.hpp"

namespace cllab::report::html {
namespace {

/// What the probe concluded of the axis, as vertical lines.
std::vector<ChartGuide> guides_of(const std::vector<model::Finding>& findings, const std::vector<ChartLine>& lines,
                                  const std::string& unit) {
    double first = std::numeric_limits<double>::infinity(), last = -first;
    for (const auto& line : lines)
        for (const auto& mark : line.marks) {
            first = std::min(first, mark.x);
            last = std::max(last, mark.x);
        }
    return mapped(knees(findings, unit, first, last), [&](const auto& f) {
        return ChartGuide{f.value, quantity(f.value, unit) + " " + f.name};
    });
}

/// What a series shows.
ChartLine line_of(const Context& c, const std::string& family, const Curves::Series& series) {
    ChartLine line{name_of_series(c, family, series), {}};
    for (std::size_t i = 0; i < series.curve.samples.size(); ++i) {
        const auto& s = series.curve.samples[i];
        const double value = value_of(s), scale = s.seconds > 0 ? value / s.seconds : 1;
        if (!(value > 0)) continue;
        const bool interval = s.n >= least_for_interval;
        line.marks.push_back({s.x, value, interval ? s.low * scale : 0, interval ? s.high * scale : 0,
                              static_cast<long>(series.cells[i])});
    }
    return line;
}

void write_set(std::ostream& out, const Context& c, const Curves& set) {
    // One chart for the series that share an axis and whether it is time per step that they show.
    std::map<std::pair<std::string, bool>, std::vector<const Curves::Series*>> charts;
    for (const auto& series : set.series)
        charts[{series.axis, !series.curve.samples.empty() && series.curve.samples.front().per_step > 0}].push_back(
            &series);
    const auto device = c.name_of_device(set.device_key);
    for (const auto& [what, members] : charts) {
        const auto& unit = members.front()->unit;
        constexpr std::size_t most_lines = 8;  // there are no more colours that anybody tells apart
        for (std::size_t first = 0; first < members.size(); first += most_lines) {
            const auto part = mapped(std::span(members).subspan(first, std::min(most_lines, members.size() - first)),
                                     [&](const auto* series) { return line_of(c, set.family, *series); });
            const auto number =
                members.size() > most_lines ? ", part " + std::to_string(first / most_lines + 1) : std::string();
            write_chart(out,
                        {set.family + c.on_device(device) + number, what.first, unit,
                         what.second ? "time per step" : "time", "s"},
                        part, guides_of(set.findings, part, unit));
        }
    }
    if (set.findings.empty()) return;
    out << fmt::format("<table class=\"findings\"><caption>Findings of the probe{}</caption>{}<tbody>\n",
                       text(c.on_device(device)), head_of({"finding", "value", "95 % interval", "how"}));
    for (const auto& f : set.findings) {
        const bool there = f.withheld.empty();
        out << "<tr>" << cell(f.name) << number_cell(there ? quantity(f.value, f.unit) : "none")
            << number_cell(there ? range(f.low, f.high, f.unit) : "") << cell(there ? f.how : "withheld: " + f.withheld)
            << "</tr>\n";
    }
    out << "</tbody></table>\n";
}

}  // namespace

std::string name_of_series(const Context& c, const std::string& family, const Curves::Series& series) {
    auto out = family + "_" + series.curve.variant;
    for (const auto& [axis, value] : series.curve.fixed.values())
        if (c.varies(family, axis)) out += " " + axis + "=" + value;
    return out;
}

void write_curves(std::ostream& out, const Context& c) {
    out << "<section>\n"
        << heading(2, "curves", "Curves over an axis")
        << "<p>Points are medians, bars their 95 % intervals. A dashed line is a value that the probe found on the "
           "axis.</p>\n";
    std::string last;
    for (const auto& set : c.page.curves) {
        if (set.family != last) {
            if (!last.empty()) out << "</div>\n";
            last = set.family;
            out << fmt::format("{}<p class=\"question\">{}</p>\n<div class=\"figures\">\n",
                               heading(3, "curve-" + set.family, set.family), text(set.question));
        }
        write_set(out, c, set);
    }
    out << "</div>\n</section>\n";
}

}  // namespace cllab::report::html
