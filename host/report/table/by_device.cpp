#include <algorithm>
#include <ostream>

#include "core/units.hpp"
#include "report/table/device_grid.hpp"
#include "report/table/layout.hpp"

namespace cllab::report {
namespace {

using model::Record;

/// The columns of one device: its times, and their ratios where it ranks its variants.
std::vector<Column> device_columns(const GridDevice& device, std::size_t d, const std::vector<GridGroup>& groups) {
    Column times{.title = device.letter, .right = true}, ratios{.title = "", .right = true};
    for (const auto& group : groups) {
        for (const auto& cells : group.cells) {
            const GridCell& cell = cells[d];
            const Record* r = cell.record;
            const bool ok = r && r->status == model::Status::ok;
            times.cells.push_back(!device.first   ? "lost"
                                  : !r            ? "-"
                                  : ok && r->time ? format_seconds(r->time->median)
                                                  : model::name(r->status));
            times.tones.push_back(!device.first || (r && is_failure(r->status)) ? Tone::bad
                                  : ok                                          ? Tone::plain
                                                                                : Tone::dim);
            ratios.cells.push_back(rank_text(cell.rank));
            ratios.tones.push_back(cell.rank.fastest ? Tone::good : Tone::plain);
        }
    }
    std::vector<Column> out{std::move(times)};
    if (std::ranges::any_of(ratios.cells, [](const auto& c) { return !c.empty(); })) out.push_back(std::move(ratios));
    return out;
}

/// The devices' columns behind those of `rows`, in as many tables below one another as `width` asks for; 0 asks for
/// one.
std::vector<std::vector<Column>> tables_of(const std::vector<Column>& rows, const std::vector<GridDevice>& devices,
                                           const std::vector<GridGroup>& groups, std::size_t width) {
    std::vector<std::vector<Column>> out{rows};
    constexpr std::size_t indent = 2;
    // Names that take more than half of it stand above their row.
    const auto names = width_of(rows) > width / 2 ? indent : width_of(rows);
    for (std::size_t d = 0; d < devices.size(); ++d) {
        const auto columns = device_columns(devices[d], d, groups);
        const auto before = width_of({out.back().begin() + static_cast<std::ptrdiff_t>(rows.size()), out.back().end()});
        if (width != 0 && before > 0 && names + before + width_of(columns) > width) out.push_back(rows);
        out.back().insert(out.back().end(), columns.begin(), columns.end());
    }
    return out;
}

void print_family(std::ostream& out, const GridFamily& shown, const std::vector<GridDevice>& devices,
                  const TableStyle& style) {
    const auto& groups = shown.groups;
    std::vector<Column> columns{{.title = "kernel", .names = Names::by_itself}};
    for (const auto& group : groups)
        columns.front().cells.insert(columns.front().cells.end(), group.ids.begin(), group.ids.end());
    for (std::size_t a = 0; a < groups.front().point.size(); ++a) {
        const auto& axis = groups.front().point[a].first;
        if (!shown.varying.contains(axis)) continue;
        columns.push_back({.title = axis, .right = true, .names = Names::with_title});
        for (const auto& group : groups)
            columns.back().cells.insert(columns.back().cells.end(), group.ids.size(), group.point[a].second);
    }
    const auto common = shown.common_point();
    out << '\n' << wrap(shown.name + (common.empty() ? "" : ": " + common), "", style.text_width());
    const auto tables = tables_of(columns, devices, groups, style.width);
    for (const auto& table : tables) {
        if (&table != &tables.front()) out << '\n';
        const Grid grid(table, style.width, style.colour);
        out << grid.header() << '\n';
        std::size_t row = 0;
        for (const auto& group : groups) {
            if (row > 0 && group.ids.size() > 1) out << '\n';
            for (std::size_t v = 0; v < group.ids.size(); ++v) out << grid.row(row++) << '\n';
            const auto sentence = verdict(group, devices), where = shown.where(group);
            if (sentence.empty() || &table != &tables.back()) continue;
            out << wrap((where.empty() ? "" : "At " + where + ": ") + sentence, "      ", style.text_width());
        }
    }
}

}  // namespace

void print_by_device(std::ostream& out, const std::vector<Record>& records, const std::vector<LostDevice>& lost,
                     const MayBeAuto& may_be_auto, const TableStyle& style) {
    const auto grid = device_grid(rows_of(records), lost, may_be_auto);
    const auto& devices = grid.devices;
    if (records.empty() || devices.size() < 2) return;
    out << '\n'
        << wrap_heading("Variants by devices", ": median time, and its ratio to the device's fastest",
                        style.text_width(), style.colour);
    for (const auto& device : devices)
        out << wrap_beside("  " + device.letter + "  ", device.description, style.text_width());
    if (grid.unshown > 0) out << "  and " << grid.unshown << " more, which have no column\n";
    for (const auto& family : grid.families) print_family(out, family, devices, style);
    for (const auto& note : ranking_notes({0, grid.apart})) out << '\n' << wrap(note, "", style.text_width());
    if (grid.repeated > 0)
        out << "\nLeft out here: " << grid.repeated << " earlier record(s) of cells that ran again.\n";
}

}  // namespace cllab::report
