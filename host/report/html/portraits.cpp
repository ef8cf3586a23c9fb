// The devices as `cllab profile` measured them.
#include <ostream>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "report/html/chart.hpp"
#include "report/html/context.hpp"
#include "report/table/curve.hpp"

namespace cllab::report::html {

namespace {

/// One chart with the curves of a family that have three points or more.
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

void write_portrait(std::ostream& out, const Portrait& portrait, const std::string& device) {
    out << fmt::format("<h3>{}</h3>\n<p>Profile of {}.</p>\n<div class=\"figures\">\n", text(portrait.device),
                       text(portrait.utc));
    write_charts(out, portrait, device);
    out << fmt::format(
        R"(</div>{}<details><summary>All {} figures</summary><div class="scroll"><table class="portrait">{})", '\n',
        portrait.figures.size(), head_of({"figure", "value", "95 % interval", "the driver says", "how"}));
    std::string section;
    for (const auto& f : portrait.figures) {
        if (f.section != section)
            out << fmt::format("{}<tbody><tr><th colspan=\"5\">{}</th></tr>\n", section.empty() ? "" : "</tbody>",
                               text(f.section));
        section = f.section;
        out << "<tr>" << cell(f.name) << number_cell(quantity(f.value, f.unit))
            << number_cell(range(f.low, f.high, f.unit)) << cell(f.driver_says) << cell(f.how) << "</tr>\n";
    }
    out << (section.empty() ? "" : "</tbody>") << "</table></div></details>\n";
    if (portrait.absent.empty()) return;
    out << fmt::format("<details><summary>{} figures without a value, and why</summary><ul>\n", portrait.absent.size());
    for (const auto& sentence : portrait.absent) out << fmt::format("<li>{}</li>\n", text(sentence));
    out << "</ul></details>\n";
}

}  // namespace

void write_portraits(std::ostream& out, const Context& c) {
    out << "<section>\n" << heading(2, "portrait", "The devices' portraits");
    for (const auto& device : c.devices) {
        bool any = false;
        for (const auto& portrait : c.page.portraits) {
            if (portrait.device_key != device.key) continue;
            any = true;
            write_portrait(out, portrait, device.name);
        }
        if (!any)
            out << fmt::format(
                "<p><b>{}</b>: no readable profile of this device beside the dumps; <code>cllab "
                "profile</code> makes one.</p>\n",
                text(device.name));
    }
    out << "</section>\n";
}

}  // namespace cllab::report::html
