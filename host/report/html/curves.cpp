// Curves over an axis, with the knees and levels of the page's own fit and what the probe concluded.
#include <algorithm>
#include <map>
#include <ostream>

#include "core/text.hpp"
#include "model/fit.hpp"
#include "report/html/chart.hpp"
#include "report/html/context.hpp"

namespace cllab::report::html {
namespace {

double value_of(const model::Curve::Sample& s) { return s.per_step > 0 ? s.per_step : s.seconds; }

/// Levels of a rising curve of times per step, as horizontal guides, and where each but the last ends as vertical ones.
void add_levels(std::vector<ChartGuide>& guides, const std::string& name, const std::vector<ChartMark>& marks,
                const std::string& unit) {
    std::vector<double> x, y;
    for (const auto& mark : marks) {
        x.push_back(mark.x);
        y.push_back(mark.y);
    }
    const auto levels = model::find_plateaus(x, y).levels;
    if (levels.size() < 2) return;
    for (const auto& level : levels) {
        guides.push_back(
            {false, level.value.value, level.first_x, level.capacity.value, quantity(level.value.value, "s")});
        if (!level.open)
            guides.push_back({true, level.capacity.value, 0, 0,
                              quantity(level.capacity.value, unit) + (name.empty() ? "" : " " + name)});
    }
}

void write_set(std::ostream& out, const Context& c, const Curves& set) {
    // One chart for the series that share an axis and whether it is time per step that they show.
    std::map<std::pair<std::string, bool>, std::vector<const Curves::Series*>> charts;
    for (const auto& series : set.series)
        charts[{series.axis, !series.curve.samples.empty() && series.curve.samples.front().per_step > 0}].push_back(
            &series);
    std::string device;
    for (const auto& d : c.devices)
        if (d.key == set.device_key) device = d.name;
    for (const auto& [what, members] : charts) {
        std::vector<ChartLine> lines;
        for (const auto* series : members) {
            ChartLine line{set.family + "_" + series->curve.variant, {}};
            std::string fixed;
            const auto varying = c.varying.find(set.family);
            for (const auto& [axis, value] : series->curve.fixed.values())
                if (varying != c.varying.end() &&
                    std::find(varying->second.begin(), varying->second.end(), axis) != varying->second.end())
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
            std::vector<ChartGuide> guides;
            if (what.second && unit == "byte")
                for (const auto& line : part) add_levels(guides, part.size() > 1 ? line.name : "", line.marks, unit);
            write_chart(out,
                        {set.family + " on " + device +
                             (lines.size() > most_lines ? ", part " + std::to_string(first / most_lines + 1) : ""),
                         what.first, unit, what.second ? "time per step" : "time", "s"},
                        part, guides);
        }
    }
    if (set.findings.empty()) return;
    out << "<table class=\"findings\"><caption>What the probe concluded on " << text(device)
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
        << "<p>Points are medians, bars their 95 % intervals. Dashed levels and knees are a fit of plateaus to the "
           "points shown "
           "(within 5 %), for times per step over bytes.</p>\n";
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
