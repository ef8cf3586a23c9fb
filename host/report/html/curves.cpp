// Curves over an axis, with what the probe concluded.
#include <algorithm>
#include <limits>
#include <map>
#include <ostream>

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
    std::vector<ChartGuide> out;
    for (const auto& f : knees(findings, unit, first, last))
        out.push_back({true, f.value, 0, 0, quantity(f.value, unit) + " " + f.name});
    return out;
}

void write_set(std::ostream& out, const Context& c, const Curves& set) {
    // One chart for the series that share an axis and whether it is time per step that they show.
    std::map<std::pair<std::string, bool>, std::vector<const Curves::Series*>> charts;
    for (const auto& series : set.series)
        charts[{series.axis, !series.curve.samples.empty() && series.curve.samples.front().per_step > 0}].push_back(
            &series);
    const auto device = c.name_of_device(set.device_key);
    for (const auto& [what, members] : charts) {
        std::vector<ChartLine> lines;
        for (const auto* series : members) {
            ChartLine line{set.family + "_" + series->curve.variant, {}};
            std::string fixed;
            const auto varying = c.varying.find(set.family);
            for (const auto& [axis, value] : series->curve.fixed.values())
                if (varying != c.varying.end() && std::ranges::find(varying->second, axis) != varying->second.end())
                    fixed += " " + axis + "=" + value;
            line.name += fixed;
            for (std::size_t i = 0; i < series->curve.samples.size(); ++i) {
                const auto& s = series->curve.samples[i];
                const double value = value_of(s), scale = s.seconds > 0 ? value / s.seconds : 1;
                if (!(value > 0)) continue;
                const bool interval = s.n >= least_for_interval;
                line.marks.push_back({s.x, value, interval ? s.low * scale : 0, interval ? s.high * scale : 0,
                                      static_cast<long>(series->cells[i])});
            }
            lines.push_back(std::move(line));
        }
        const auto& unit = members.front()->unit;
        constexpr std::size_t most_lines = 8;  // there are no more colours that anybody tells apart
        for (std::size_t first = 0; first < lines.size(); first += most_lines) {
            const std::vector<ChartLine> part(
                lines.begin() + static_cast<long>(first),
                lines.begin() + static_cast<long>(std::min(lines.size(), first + most_lines)));
            write_chart(out,
                        {set.family + " on " + device +
                             (lines.size() > most_lines ? ", part " + std::to_string(first / most_lines + 1) : ""),
                         what.first, unit, what.second ? "time per step" : "time", "s"},
                        part, guides_of(set.findings, part, unit));
        }
    }
    if (set.findings.empty()) return;
    out << "<table class=\"findings\"><caption>Findings of the probe on " << text(device)
        << "</caption><thead><tr><th>finding</th><th>value</th><th>95 % "
           "interval</th><th>how</th></tr></thead><tbody>\n";
    for (const auto& f : set.findings) {
        if (!f.withheld.empty()) {
            out << "<tr><td>" << text(f.name)
                << "</td><td class=\"n\">none</td><td></td><td>withheld: " << text(f.withheld) << "</td></tr>\n";
            continue;
        }
        out << "<tr><td>" << text(f.name) << "</td><td class=\"n\">" << text(quantity(f.value, f.unit))
            << "</td><td class=\"n\">"
            << (f.low < f.high ? text(quantity(f.low, f.unit) + " to " + quantity(f.high, f.unit)) : "") << "</td><td>"
            << text(f.how) << "</td></tr>\n";
    }
    out << "</tbody></table>\n";
}

}  // namespace

void write_curves(std::ostream& out, const Context& c) {
    if (c.page.curves.empty()) return;
    out << "<section>\n"
        << heading(2, "curves", "Curves over an axis")
        << "<p>Points are medians, bars their 95 % intervals. A dashed line is a value that the probe found on the "
           "axis.</p>\n";
    std::string last;
    for (const auto& set : c.page.curves) {
        if (set.family != last) {
            if (!last.empty()) out << "</div>\n";
            last = set.family;
            out << heading(3, "curve-" + set.family, set.family) << "<p class=\"question\">" << text(set.question)
                << "</p>\n<div class=\"figures\">\n";
        }
        write_set(out, c, set);
    }
    out << "</div>\n</section>\n";
}

}  // namespace cllab::report::html
