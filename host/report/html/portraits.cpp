// The devices as `cllab profile` measured them.
#include <ostream>

#include "report/html/chart.hpp"
#include "report/html/context.hpp"

namespace cllab::report::html {

void write_portraits(std::ostream& out, const Context& c) {
    out << "<section>\n" << heading(2, "portrait", "The devices' portraits");
    for (const auto& device : c.devices) {
        bool any = false;
        for (const auto& portrait : c.page.portraits) {
            if (portrait.device_key != device.key) continue;
            any = true;
            out << "<h3>" << text(portrait.device) << "</h3>\n<p>Profile of " << text(portrait.utc) << ".</p>\n<div class=\"figures\">\n";
            for (const auto& series : portrait.curves) {
                if (series.id.rfind("latency", 0) != 0 && series.id.rfind("bandwidth", 0) != 0) continue;
                ChartLine line{"", {}};
                for (const auto& s : series.samples)
                    if (const double y = s.per_step > 0 ? s.per_step : s.seconds; y > 0 && s.x > 0) line.marks.push_back({s.x, y, 0, 0});
                if (line.marks.size() < 3) continue;
                write_chart(out, {series.id + " on " + device.name, series.over, series.over == "footprint" || series.over == "size" ? "byte" : "",
                                  series.samples.front().per_step > 0 ? "time per step" : "time", "s"}, {line}, {});
            }
            out << "</div>\n<details><summary>All " << portrait.figures.size()
                << " figures</summary><div class=\"scroll\"><table class=\"portrait\"><thead><tr><th>figure</th><th>value</th><th>95 % interval</th><th>the driver says</th><th>how</th></tr></thead>";
            std::string section;
            for (const auto& f : portrait.figures) {
                if (f.section != section) {
                    out << (section.empty() ? "" : "</tbody>") << "<tbody><tr><th colspan=\"5\">" << text(f.section) << "</th></tr>\n";
                    section = f.section;
                }
                out << "<tr><td>" << text(f.name) << "</td><td class=\"n\">" << text(quantity(f.value, f.unit)) << "</td><td class=\"n\">"
                    << (f.low < f.high ? text(quantity(f.low, f.unit) + " to " + quantity(f.high, f.unit)) : "") << "</td><td>" << text(f.driver_says) << "</td><td>" << text(f.how)
                    << "</td></tr>\n";
            }
            out << (section.empty() ? "" : "</tbody>") << "</table></div></details>\n";
        }
        if (!any)
            out << "<p><b>" << text(device.name) << "</b>: no profile of this device is readable beside the dumps; <code>cllab profile</code> makes one.</p>\n";
    }
    out << "</section>\n";
}

}  // namespace cllab::report::html
