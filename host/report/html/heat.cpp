// Variants at one point by devices: a table of times, coloured by how far each is from its device's fastest.
#include <algorithm>
#include <cmath>
#include <ostream>

#include "core/units.hpp"
#include "report/html/context.hpp"
#include "report/html/markup.hpp"

namespace cllab::report::html {
namespace {

/// h0 is the fastest, h6 beyond 32 times its time.
std::string heat_of(const Rank& rank) {
    if (!rank.compared) return "";
    const int step = rank.ratio < 1.05 ? 0 : 1 + static_cast<int>(std::floor(std::log2(std::max(1.0, rank.ratio))));
    return "h" + std::to_string(std::min(step, 6));
}

/// The devices that have a record of the group.
std::vector<std::size_t> devices_of(const GridGroup& group, std::size_t devices) {
    std::vector<std::size_t> out;
    for (std::size_t d = 0; d < devices; ++d)
        if (std::ranges::any_of(group.cells, [d](const auto& cells) { return cells[d].record != nullptr; }))
            out.push_back(d);
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
                           breakable(model::name(r->status)));
    }
    out << "</td>";
}

}  // namespace

void write_heat_scale(std::ostream& out, const Context& c) {
    const auto compares = [&](const GridGroup& group) { return devices_of(group, c.grid.devices.size()).size() > 1; };
    if (std::ranges::none_of(c.grid.families, [&](const auto& f) { return std::ranges::any_of(f.groups, compares); }))
        return;
    out << "<p id=\"by-device\">Of a family on several devices the variants by devices are first: the median time, and "
           "its ratio to the same device's fastest variant at the same point. Compare ratios within a column "
           "only.</p>\n<p class=\"scale\">times the fastest: <span class=\"h0\">1</span><span class=\"h1\">to "
           "2</span><span class=\"h2\">to 4</span><span class=\"h3\">to 8</span><span class=\"h4\">to 16</span><span "
           "class=\"h5\">to 32</span><span class=\"h6\">more</span></p>\n";
}

void write_heat(std::ostream& out, const Context& c, const GridFamily& family, const GridGroup& group) {
    const auto columns = devices_of(group, c.grid.devices.size());
    if (columns.size() < 2) return;
    const auto where = family.where(group);
    out << fmt::format(R"(<div class="scroll"><table class="heat"><caption>{}{}</caption><thead><tr><th>variant</th>)",
                       text(family.name), text((where.empty() ? "" : " at ") + where));
    for (const auto d : columns)
        out << fmt::format(R"(<th title="{}">{}</th>)", text(c.grid.devices[d].description),
                           text(c.name_of_grid_device(d)));
    out << "</tr></thead><tbody>\n";
    for (std::size_t v = 0; v < group.ids.size(); ++v) {
        out << fmt::format("<tr><th>{}</th>", breakable(group.ids[v]));
        for (const auto d : columns) write_cell(out, c, group.cells[v][d]);
        out << "</tr>\n";
    }
    out << "</tbody></table></div>\n";
}

}  // namespace cllab::report::html
