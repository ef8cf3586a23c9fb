// The times of a cell over the runs that measured it, and where their level changed.
#include <algorithm>
#include <cmath>
#include <ostream>

#include "report/html/chart.hpp"
#include "report/html/context.hpp"
#include "report/records/points.hpp"
#include "report/table/regression.hpp"

namespace cllab::report::html {
namespace {

std::string name_of(const Context& c, const model::History& h) {
    const auto& r = c.records()[h.points.back().record];
    return cell_title(h.id, c.varying_point(r)) + c.on_device(c.devices[c.device_of[h.points.back().record]].name);
}

std::string change_text(const model::History& h, std::size_t level) {
    return change_of(h, level) + (h.levels[level].provisional ? ", provisional" : "");
}

void write_history_chart(std::ostream& out, const Context& c, const model::History& h) {
    ChartLine line{"", {}};
    line.joined = false;
    for (std::size_t i = 0; i < h.points.size(); ++i) {
        const auto& r = c.records()[h.points[i].record];
        const bool interval = r.time && r.time->has_interval();
        line.marks.push_back({static_cast<double>(i), h.points[i].seconds, interval ? r.time->low : 0,
                              interval ? r.time->high : 0, static_cast<long>(h.points[i].record)});
    }
    std::vector<ChartGuide> guides;
    for (std::size_t i = 0; i < h.levels.size(); ++i) {
        const auto& level = h.levels[i];
        const auto first = static_cast<double>(level.first), last = static_cast<double>(level.first + level.count - 1);
        guides.push_back({false, std::exp(level.centre), first, last, quantity(std::exp(level.centre), "s")});
        if (i > 0) guides.push_back({true, first - 0.5, 0, 0, change_text(h, i)});
    }
    write_chart(out, {name_of(c, h), "runs after the first", "", "median time", "s", false}, {line}, guides);
}

void write_levels(std::ostream& out, const Context& c, const std::vector<const model::History*>& histories) {
    out << fmt::format("<div class=\"scroll\"><table class=\"levels\">{}<tbody>\n",
                       head_of({"cell", "level since", "time", "change", "runs"}));
    for (const auto* h : histories)
        for (std::size_t i = 0; i < h->levels.size(); ++i) {
            const auto& level = h->levels[i];
            out << fmt::format("<tr><td>{}</td>{}{}{}{}</tr>\n",
                               i == 0 ? c.link(h->points.back().record, name_of(c, *h)) : "", cell(since(*h, i)),
                               number_cell(quantity(std::exp(level.centre), "s")),
                               number_cell(i == 0 ? "" : change_text(*h, i)), number_cell(std::to_string(level.count)));
        }
    out << "</tbody></table></div>\n";
}

}  // namespace

void write_history(std::ostream& out, const Context& c) {
    std::size_t changed = 0;
    const auto all = changed_first(c.page.histories, changed);
    constexpr std::size_t most_charts = 24;
    out << "<section>\n"
        << heading(2, "history", "History") << "<p>" << changed << " of " << all.size()
        << " cells changed their level by more than 1 % from run to run. A level that begins in the last three runs is "
           "provisional. Different runs share no arrangement, so a change here is a hint; <code>cllab regress</code> "
           "is the test.</p>\n<p>Points are medians, bars their 95 % intervals. Dashed lines are levels and their "
           "changes. The time axis does not begin at zero.</p>\n<div class=\"figures\" id=\"history-charts\">\n";
    for (std::size_t i = 0; i < std::min(most_charts, all.size()); ++i) write_history_chart(out, c, *all[i]);
    out << "</div>\n";
    if (all.size() > most_charts)
        out << "<p>Charts of the first " << most_charts << "; the table has all " << all.size() << ".</p>\n";
    write_levels(out, c, all);
    out << "</section>\n";
}

}  // namespace cllab::report::html
