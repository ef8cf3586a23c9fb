// The variants at one point on one device: bars from zero with their intervals, and the density of each one's samples.
// Where times are so far apart that bars from zero would hide the short ones, points on a logarithmic axis take their
// place: a bar has no length there.
// Variants by devices as a table of numbers, coloured by how far each is from its device's fastest.
#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <utility>

#include "core/grouped.hpp"
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
        out << fmt::format(R"(<span class="dim">{}</span>)",
                           sorted.empty()
                               ? "no samples"
                               : fmt::format("{}{} samples", sorted.size(), sorted.size() < 8 ? "" : " equal"));
        return;
    }
    // A few wild samples must not squeeze the rest into one peak: they are counted beside the chart.
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
    constexpr double worth_saying = 1.25;  // times as far as what is drawn
    if (beyond > 0 && sorted.back() - sorted.front() > worth_saying * (high - low))
        out << fmt::format(R"(<span class="beyond">{} of {} outside, {} to {}</span>)", beyond, sorted.size(),
                           format_seconds(sorted.front()), format_seconds(sorted.back()));
}

void write_row(std::ostream& out, const Context& c, const Record& r, const Rank& rank, const TimeAxis& axis) {
    const auto cell = c.index(r);
    out << fmt::format(R"(<div class="row" data-cell="{}"><div class="name">{}</div>)", cell, c.link(cell, r.id));
    if (!r.time) {
        out << fmt::format("<div class=\"bar {}\">{}</div><div></div><div></div></div>\n",
                           model::is_failure(r.status) ? "bad" : "dim", model::name(r.status));
        return;
    }
    const auto& t = *r.time;
    const auto x = [&](double seconds) { return percent(axis.at(seconds)); };
    const auto median = format_seconds(t.median);
    const char* style = rank.fastest ? "best" : "value";
    out << fmt::format(R"(<div class="bar"><svg height="24" width="100%" role="img" aria-label="{}">)", median);
    if (axis.scale.logarithmic)
        out << fmt::format(R"(<circle class="{}" cx="{}" cy="12" r="6"/>)", style, x(t.median));
    else
        out << fmt::format(R"(<rect class="{}" y="4" height="16" width="{}"/>)", style, x(t.median));
    if (t.has_interval()) {
        out << fmt::format(R"(<g class="interval"><line x1="{}" x2="{}" y1="12" y2="12"/>)", x(t.low), x(t.high));
        for (const double end : {t.low, t.high})
            out << fmt::format(R"(<line x1="{0}" x2="{0}" y1="7" y2="17"/>)", x(end));
        out << "</g>";
    }
    out << fmt::format(R"(</svg></div><div class="figure"><b>{}</b> <span class="dim">{}</span> {}</div>)", median,
                       text(spread(r)), rank.fastest ? R"(<span class="good">fastest</span>)" : rank_text(rank));
    out << "<div class=\"samples\">";
    write_density(out, r);
    out << "</div></div>\n";
}

bool has_time(const GridCell& cell) { return cell.record && cell.record->time && cell.record->time->median > 0; }

void write_axis(std::ostream& out, const TimeAxis& axis) {
    out << R"(<div class="row axis"><div></div><div class="bar"><svg height="18" width="100%">)";
    const auto ticks = axis.scale.ticks();
    const bool many = ticks.size() > 3;  // every second one goes where the screen is narrow
    for (std::size_t k = 0; k < ticks.size(); ++k) {
        const auto at = percent(axis.at(ticks[k]));
        const bool zero = ticks[k] == 0;
        const char* kind = zero ? "first" : many && k % 2 ? "minor" : "major";
        out << fmt::format(R"(<line x1="{0}" x2="{0}" y1="0" y2="4"/><text class="{1}" x="{0}" y="15">{2}</text>)", at,
                           kind, zero ? "0" : format_seconds(ticks[k]));
    }
    out << "</svg></div><div></div><div></div></div>\n";
}

/// Nothing where no cell has a time.
void write_group(std::ostream& out, const Context& c, const GridFamily& family, const GridGroup& group, std::size_t d) {
    constexpr double none = std::numeric_limits<double>::infinity();
    double longest = 0, shortest = none, least = none;
    for (const auto& cells : group.cells) {
        if (!has_time(cells[d])) continue;
        const auto& t = *cells[d].record->time;
        longest = std::max({longest, t.median, t.has_interval() ? t.high : 0});
        shortest = std::min(shortest, t.median);
        least = std::min(least, t.has_interval() && t.low > 0 ? t.low : t.median);
    }
    if (!(longest > 0)) return;
    const bool far_apart = longest > most_for_bars * shortest;
    const TimeAxis axis{far_apart ? Scale{least, longest, true, false} : Scale{0, longest, false, false}};
    const auto where = family.where(group);
    out << fmt::format("<figure class=\"bars\"><figcaption>{} on {}{}</figcaption>\n", text(family.name),
                       text(c.name_of_grid_device(d)), text((where.empty() ? "" : ", ") + where));
    out << fmt::format(R"(<div class="row head"><div>variant</div><div>median time of one operation, {}, )",
                       far_apart ? "logarithmic" : "from 0");
    out << "with its 95 % interval</div><div></div><div>distribution of its samples</div></div>\n";
    for (const auto& cells : group.cells)
        if (cells[d].record) write_row(out, c, *cells[d].record, cells[d].rank, axis);
    write_axis(out, axis);
    out << "</figure>\n";
}

/// Cells of charts that are not drawn, because no variant has a time there: by what became of them, each variant once.
void write_untimed(std::ostream& out, const Context& c, const GridFamily& family) {
    std::vector<std::pair<std::string, const Record*>> untimed;  // with what is said of each
    for (const auto& group : family.groups)
        for (std::size_t d = 0; d < c.grid.devices.size(); ++d) {
            if (std::ranges::any_of(group.cells, [&](const auto& cells) { return has_time(cells[d]); })) continue;
            for (const auto& cells : group.cells) {
                const auto* r = cells[d].record;
                if (!r) continue;
                const auto said = std::string(model::name(r->status)) + " on " + c.name_of_grid_device(d) +
                                  (r->reason.empty() ? "" : ": " + one_line(r->reason));
                untimed.emplace_back(said, r);
            }
        }
    const auto link = [&](const auto& points) {
        const auto& first = *points.front().second;
        return c.link(c.index(first), first.id) + (points.size() > 1 ? fmt::format(" ({} points)", points.size()) : "");
    };
    for (const auto& alike : grouped(untimed, [](const auto& one) { return one.first; })) {
        const auto variants = grouped(alike, [](const auto& one) { return one.second->id; });
        out << fmt::format("<p class=\"dim untimed\">{}: {}</p>\n", join(variants, ", ", link),
                           text(alike.front().first));
    }
}

constexpr std::size_t most_maps = 40;

/// h0 is the fastest, h6 beyond 32 times its time.
std::string heat_of(const Rank& rank) {
    if (!rank.compared) return "";
    const int step = rank.ratio < 1.05 ? 0 : 1 + static_cast<int>(std::floor(std::log2(std::max(1.0, rank.ratio))));
    return "h" + std::to_string(std::min(step, 6));
}

/// The devices that have a record of the family.
std::vector<std::size_t> devices_of(const GridFamily& family, std::size_t devices) {
    std::vector<std::size_t> out;
    for (std::size_t d = 0; d < devices; ++d) {
        const auto has = [d](const GridGroup& group) {
            return std::ranges::any_of(group.cells, [d](const auto& cells) { return cells[d].record != nullptr; });
        };
        if (std::ranges::any_of(family.groups, has)) out.push_back(d);
    }
    return out;
}

void write_cell(std::ostream& out, const Context& c, const GridCell& cell) {
    const auto* r = cell.record;
    if (!r) {
        out << "<td class=\"dim\">-</td>";
        return;
    }
    out << fmt::format(R"(<td data-cell="{}" class="{}">)", c.index(*r), heat_of(cell.rank));
    if (r->time) {
        out << c.link(c.index(*r), format_seconds(r->time->median));
        if (cell.rank.compared) out << fmt::format("<small>{}</small>", rank_text(cell.rank));
    } else {
        out << fmt::format(R"(<span class="{}">{}</span>)", model::is_failure(r->status) ? "bad" : "dim",
                           model::name(r->status));
    }
    out << "</td>";
}

void write_map(std::ostream& out, const Context& c, const GridFamily& family, const GridGroup& group,
               const std::vector<std::size_t>& columns) {
    const auto where = family.where(group);
    out << fmt::format(R"(<div class="scroll"><table class="heat"><caption>{}{}</caption><thead><tr><th>variant</th>)",
                       text(family.name), text((where.empty() ? "" : " at ") + where));
    for (const auto d : columns)
        out << fmt::format(R"(<th title="{}">{}</th>)", text(c.grid.devices[d].description),
                           text(c.name_of_grid_device(d)));
    out << "</tr></thead><tbody>\n";
    for (std::size_t v = 0; v < group.ids.size(); ++v) {
        out << fmt::format("<tr><th>{}</th>", text(group.ids[v]));
        for (const auto d : columns) write_cell(out, c, group.cells[v][d]);
        out << "</tr>\n";
    }
    out << "</tbody></table></div>\n";
}

}  // namespace

void write_bars(std::ostream& out, const Context& c) {
    out << "<section>\n" << heading(2, "variants", "The variants of each family");
    for (const auto& family : c.grid.families) {
        out << heading(3, "family-" + family.name, family.name);
        const auto common = family.common_point();
        if (!common.empty()) out << fmt::format("<p class=\"point\">{}</p>\n", text(common));
        out << "<div class=\"figures\">\n";
        for (std::size_t g = 0; g < std::min(most_groups, family.groups.size()); ++g)
            for (std::size_t d = 0; d < c.grid.devices.size(); ++d) write_group(out, c, family, family.groups[g], d);
        out << "</div>\n";
        write_untimed(out, c, family);
        if (family.groups.size() > most_groups)
            out << fmt::format("<p class=\"dim\">{} more points are in the table of all cells.</p>\n",
                               family.groups.size() - most_groups);
    }
    out << "</section>\n";
}

void write_heat(std::ostream& out, const Context& c) {
    const auto devices = c.grid.devices.size();
    out << "<section>\n" << heading(2, "by-device", "Variants by devices");
    if (std::ranges::none_of(c.grid.families, [&](const auto& f) { return devices_of(f, devices).size() > 1; })) {
        out << "<p>No family has records of two devices.</p>\n</section>\n";
        return;
    }
    out << "<p>Median time, and its ratio to the same device's fastest variant at the same point. Compare ratios "
           "within a column only.</p>\n<p class=\"scale\">times the fastest: <span class=\"h0\">1</span><span "
           "class=\"h1\">to 2</span><span class=\"h2\">to 4</span><span class=\"h3\">to 8</span><span class=\"h4\">to "
           "16</span><span class=\"h5\">to 32</span><span class=\"h6\">more</span></p>\n";
    for (const auto& family : c.grid.families) {
        const auto columns = devices_of(family, devices);
        if (columns.size() < 2) continue;
        for (const auto& group : first_of(family.groups, most_maps)) write_map(out, c, family, group, columns);
        if (family.groups.size() > most_maps)
            out << fmt::format("<p class=\"dim\">{} more points of {} are in the table of all cells.</p>\n",
                               family.groups.size() - most_maps, text(family.name));
    }
    out << "</section>\n";
}

}  // namespace cllab::report::html
