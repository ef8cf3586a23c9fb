// The variants at one point on one device: bars from zero with their intervals, and the density of each one's samples.
// Where times are so far apart that bars from zero would hide the short ones, points on a logarithmic axis take their
// place: a bar has no length there.
#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>

#include "core/stats.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "report/html/context.hpp"
#include "report/html/markup.hpp"

namespace cllab::report::html {
namespace {

using model::Record;

constexpr std::size_t most_groups = 60;  // of a family: a sweep with more is read in the table
constexpr double scale_to = 0.97;        // of the width, for the longest interval
constexpr double most_for_bars = 40;     // times that the longest bar is as long as the shortest

/// Where seconds lie on the axis of a chart.
struct TimeAxis {
    Scale scale;
    double at(double seconds) const {
        if (scale.logarithmic) return seconds > scale.low ? 0.02 + (scale_to - 0.02) * scale.at(seconds) : 0;
        return scale_to * std::max(0.0, seconds) / scale.high;
    }
};

/// Height of the density at `steps` places from `low` to `high`, by Gaussian kernels. Half of Silverman's width, which
/// is made for one mode and hides two.
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

void write_density(std::ostream& out, const Record& r) {
    auto sorted = r.samples;
    std::ranges::sort(sorted);
    if (sorted.size() < 8 || !(sorted.back() > sorted.front())) {
        out << "<span class=\"dim\">"
            << (sorted.empty() ? "no samples"
                               : std::to_string(sorted.size()) + (sorted.size() < 8 ? " samples" : " equal samples"))
            << "</span>";
        return;
    }
    // A few wild samples must not squeeze the rest into one peak: they are counted beside the chart.
    const double inner_low = quantile(sorted, 0.02), inner_high = quantile(sorted, 0.98),
                 margin = 0.1 * (inner_high - inner_low);
    const double low = inner_high > inner_low ? std::max(sorted.front(), inner_low - margin) : sorted.front();
    const double high = inner_high > inner_low ? std::min(sorted.back(), inner_high + margin) : sorted.back();
    constexpr int steps = 60;
    const auto heights = density(sorted, low, high, steps);
    out << "<svg class=\"density\" viewBox=\"0 0 60 28\" preserveAspectRatio=\"none\" role=\"img\" "
           "aria-label=\"density of the samples\"><path d=\"M0 28";
    for (int i = 0; i <= steps; ++i)
        out << "L" << i << " " << exact(std::round(10 * (28 - 26 * heights[static_cast<std::size_t>(i)])) / 10);
    out << "L60 28Z\"/></svg><span class=\"range\"><span>" << text(format_seconds(low)) << "</span><span>"
        << text(format_seconds(high)) << "</span></span>";
    const auto beyond = std::ranges::count_if(sorted, [&](double s) { return s < low || s > high; });
    constexpr double worth_saying = 1.25;  // times as far as what is drawn
    if (beyond > 0 && sorted.back() - sorted.front() > worth_saying * (high - low))
        out << "<span class=\"beyond\">" << beyond << " of " << sorted.size() << " outside, "
            << text(format_seconds(sorted.front())) << " to " << text(format_seconds(sorted.back())) << "</span>";
}

void write_row(std::ostream& out, const Context& c, const Record& r, const Rank& rank, const TimeAxis& axis) {
    const auto cell = c.index(r);
    out << "<div class=\"row\" data-cell=\"" << cell << "\"><div class=\"name\">" << c.link(cell, r.id) << "</div>";
    if (r.status != model::Status::ok || !r.time) {
        out << "<div class=\"bar " << (model::is_failure(r.status) ? "bad" : "dim") << "\">" << model::name(r.status)
            << "</div><div></div><div></div></div>\n";
        return;
    }
    const auto& t = *r.time;
    const auto x = [&](double seconds) { return percent(axis.at(seconds)); };
    const char* style = rank.fastest ? "best" : "value";
    out << "<div class=\"bar\"><svg height=\"24\" width=\"100%\" role=\"img\" aria-label=\""
        << text(format_seconds(t.median)) << "\">";
    if (axis.scale.logarithmic)
        out << "<circle class=\"" << style << "\" cx=\"" << x(t.median) << "\" cy=\"12\" r=\"6\"/>";
    else
        out << "<rect class=\"" << style << "\" y=\"4\" height=\"16\" width=\"" << x(t.median) << "\"/>";
    if (t.has_interval())
        out << "<g class=\"interval\"><line x1=\"" << x(t.low) << "\" x2=\"" << x(t.high)
            << "\" y1=\"12\" y2=\"12\"/><line x1=\"" << x(t.low) << "\" x2=\"" << x(t.low)
            << "\" y1=\"7\" y2=\"17\"/><line x1=\"" << x(t.high) << "\" x2=\"" << x(t.high)
            << "\" y1=\"7\" y2=\"17\"/></g>";
    out << "</svg></div><div class=\"figure\"><b>" << text(format_seconds(t.median)) << "</b> <span class=\"dim\">"
        << text(spread(r)) << "</span> " << (rank.fastest ? "<span class=\"good\">fastest</span>" : rank_text(rank))
        << "</div><div class=\"samples\">";
    write_density(out, r);
    out << "</div></div>\n";
}

bool has_time(const Record& r) { return r.time && r.status == model::Status::ok && r.time->median > 0; }

void write_axis(std::ostream& out, const TimeAxis& axis) {
    out << "<div class=\"row axis\"><div></div><div class=\"bar\"><svg height=\"18\" width=\"100%\">";
    std::size_t k = 0;
    const auto ticks = axis.scale.ticks();
    const bool many = ticks.size() > 3;  // every second one goes where the screen is narrow
    for (const double tick : ticks) {
        const auto at = percent(axis.at(tick));
        out << "<line x1=\"" << at << "\" x2=\"" << at << "\" y1=\"0\" y2=\"4\"/><text class=\""
            << (tick == 0       ? "first"
                : many && k % 2 ? "minor"
                                : "major")
            << "\" x=\"" << at << "\" y=\"15\">" << (tick == 0 ? "0" : text(format_seconds(tick))) << "</text>";
        ++k;
    }
    out << "</svg></div><div></div><div></div></div>\n";
}

/// Nothing where no cell has a time.
void write_group(std::ostream& out, const Context& c, const GridFamily& family, const GridGroup& group, std::size_t d) {
    double longest = 0, shortest = 0, shortest_interval = 0;
    for (const auto& cells : group.cells) {
        const auto* r = cells[d].record;
        if (!r || !has_time(*r)) continue;
        const auto& t = *r->time;
        longest = std::max({longest, t.median, t.has_interval() ? t.high : 0});
        shortest = shortest > 0 ? std::min(shortest, t.median) : t.median;
        const double low = t.has_interval() && t.low > 0 ? t.low : t.median;
        shortest_interval = shortest_interval > 0 ? std::min(shortest_interval, low) : low;
    }
    if (!(longest > 0)) return;
    const bool far_apart = longest > most_for_bars * shortest;
    const TimeAxis axis{far_apart ? Scale{std::min(shortest_interval, shortest), longest, true, false}
                                  : Scale{0, longest, false, false}};
    const auto where = c.where(family, group);
    out << "<figure class=\"bars\"><figcaption>" << text(family.name) << " on " << text(c.name_of_grid_device(d))
        << (where.empty() ? "" : ", " + text(where))
        << "</figcaption>\n<div class=\"row head\"><div>variant</div><div>median time of one operation, "
        << (far_apart ? "logarithmic" : "from 0")
        << ", with its 95 % interval</div><div></div><div>distribution of its samples</div></div>\n";
    for (const auto& cells : group.cells)
        if (cells[d].record) write_row(out, c, *cells[d].record, cells[d].rank, axis);
    write_axis(out, axis);
    out << "</figure>\n";
}

/// Cells of charts that are not drawn, because no variant has a time there: by what became of them, each variant once.
void write_untimed(std::ostream& out, const Context& c, const GridFamily& family) {
    std::map<std::string, std::vector<const Record*>> first_of;  // by what is said of them, each variant's first
    std::map<std::pair<std::string, std::string>, std::size_t> points;
    for (const auto& group : family.groups)
        for (std::size_t d = 0; d < c.grid.devices.size(); ++d) {
            if (std::ranges::any_of(group.cells,
                                    [&](const auto& cells) { return cells[d].record && has_time(*cells[d].record); }))
                continue;
            for (const auto& cells : group.cells) {
                const auto* r = cells[d].record;
                if (!r) continue;
                const auto said = std::string(model::name(r->status)) + " on " + c.name_of_grid_device(d) +
                                  (r->reason.empty() ? "" : ": " + one_line(r->reason));
                if (points[{said, r->id}]++ == 0) first_of[said].push_back(r);
            }
        }
    for (const auto& [said, records] : first_of) {
        out << "<p class=\"dim untimed\">";
        bool any = false;
        for (const auto* r : records) {
            const auto count = points[{said, r->id}];
            out << (any ? ", " : "") << c.link(c.index(*r), r->id)
                << (count > 1 ? " (" + std::to_string(count) + " points)" : "");
            any = true;
        }
        out << ": " << text(said) << "</p>\n";
    }
}

}  // namespace

void write_bars(std::ostream& out, const Context& c) {
    if (c.grid.families.empty()) return;
    out << "<section>\n" << heading(2, "variants", "The variants of each family");
    for (const auto& family : c.grid.families) {
        out << heading(3, "family-" + family.name, family.name);
        const auto common = family.common_point();
        if (!common.empty()) out << "<p class=\"point\">" << text(common) << "</p>\n";
        out << "<div class=\"figures\">\n";
        for (std::size_t g = 0; g < std::min(most_groups, family.groups.size()); ++g)
            for (std::size_t d = 0; d < c.grid.devices.size(); ++d) write_group(out, c, family, family.groups[g], d);
        out << "</div>\n";
        write_untimed(out, c, family);
        if (family.groups.size() > most_groups)
            out << "<p class=\"dim\">" << family.groups.size() - most_groups
                << " more points are in the table of all cells.</p>\n";
    }
    out << "</section>\n";
}

}  // namespace cllab::report::html
