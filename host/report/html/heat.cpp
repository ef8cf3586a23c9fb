// Variants by devices as a table of numbers, coloured by how far each is from its device's fastest.
#include <algorithm>
#include <cmath>
#include <ostream>

#include "core/units.hpp"
#include "report/html/context.hpp"
#include "report/html/markup.hpp"

namespace cllab::report::html {
namespace {

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
