// The devices as `cllab profile` measured them.
#include <ostream>
#include <string>
#include <vector>

#include "report/html/chart.hpp"
#include "report/html/context.hpp"
#include "report/table/curve.hpp"

namespace cllab::report::html {

namespace {

/// The curves of a family as one chart, those of three points or more.
void write_chart_of(std::ostream& out, const Portrait& portrait, const std::string& family, const ChartText& words,
                    double (*value)(const model::Curve::Sample&)) {
    std::vector<ChartLine> lines;
    for (const auto& series : portrait.curves) {
        if (series.id.rfind(family + "_", 0) != 0 || series.over != words.x_name) continue;
        ChartLine line{series.id, {}};
        for (const auto& s : series.samples)
            if (const double y = value(s); y > 0 && s.x > 0) line.marks.push_back({s.x, y, 0, 0});
        if (line.marks.size() >= 3) lines.push_back(std::move(line));
    }
    if (!lines.empty()) write_chart(out, words, lines, {});
}

void write_charts(std::ostream& out, const Portrait& portrait, const std::string& device) {
    write_chart_of(out, portrait, "latency",
                   {"Latency of " + device, "footprint", "byte", "time of a load that waits for the one before", "s"},
                   value_of);
    write_chart_of(out, portrait, "bandwidth", {"Bandwidth of " + device, "size", "byte", "bandwidth", "B/s"},
                   [](const auto& s) {
                       const auto found = s.metrics.find("bandwidth");
                       return found == s.metrics.end() ? 0 : found->second;
                   });
}

}  // namespace

void write_portraits(std::ostream& out, const Context& c) {
    out << "<section>\n" << heading(2, "portrait", "The devices' portraits");
    for (const auto& device : c.devices) {
        bool any = false;
        for (const auto& portrait : c.page.portraits) {
            if (portrait.device_key != device.key) continue;
            any = true;
            out << "<h3>" << text(portrait.device) << "</h3>\n<p>Profile of " << text(portrait.utc)
                << ".</p>\n<div class=\"figures\">\n";
            write_charts(out, portrait, device.name);
            out << "</div>\n<details><summary>All " << portrait.figures.size()
                << " figures</summary><div class=\"scroll\"><table "
                   "class=\"portrait\"><thead><tr><th>figure</th><th>value</th><th>95 % interval</th><th>the "
                   "driver says</th><th>how</th></tr></thead>";
            std::string section;
            for (const auto& f : portrait.figures) {
                if (f.section != section) {
                    out << (section.empty() ? "" : "</tbody>") << "<tbody><tr><th colspan=\"5\">" << text(f.section)
                        << "</th></tr>\n";
                    section = f.section;
                }
                out << "<tr><td>" << text(f.name) << "</td><td class=\"n\">" << text(quantity(f.value, f.unit))
                    << "</td><td class=\"n\">"
                    << (f.low < f.high ? text(quantity(f.low, f.unit) + " to " + quantity(f.high, f.unit)) : "")
                    << "</td><td>" << text(f.driver_says) << "</td><td>" << text(f.how) << "</td></tr>\n";
            }
            out << (section.empty() ? "" : "</tbody>") << "</table></div></details>\n";
            if (portrait.absent.empty()) continue;
            out << "<details><summary>" << portrait.absent.size()
                << " figures without a value, and why</summary><ul>\n";
            for (const auto& a : portrait.absent)
                out << "<li>" << text(a.section + ", " + a.name + ": " + a.reason) << "</li>\n";
            out << "</ul></details>\n";
        }
        if (!any)
            out << "<p><b>" << text(device.name)
                << "</b>: no readable profile of this device beside the dumps; <code>cllab profile</code> makes "
                   "one.</p>\n";
    }
    out << "</section>\n";
}

}  // namespace cllab::report::html
