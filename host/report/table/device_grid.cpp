#include "report/table/device_grid.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <tuple>
#include <unordered_map>

#include "core/grouped.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "model/warning.hpp"
#include "report/records/points.hpp"
#include "report/table/layout.hpp"

namespace cllab::report {
namespace {

using model::Record;
using Values = std::vector<std::string>;

constexpr std::size_t most_pairs = 6;       // keeps it a sentence
constexpr std::size_t most_variants = 200;  // more variants have too many pairs

/// A, B, … Z, AA, AB, …
std::string letter_of(std::size_t n) {
    std::string out(1, static_cast<char>('A' + n % 26));
    return n < 26 ? out : letter_of(n / 26 - 1) + out;
}

/// The number of each record's device, in order of first appearance. Devices from most_devices on are not shown.
using DeviceNumbers = std::unordered_map<const Record*, std::size_t>;

DeviceNumbers add_devices(DeviceGrid& grid, const Rows& records, const std::vector<LostDevice>& lost) {
    const bool hosts = several_hosts(records);
    DeviceNumbers out;
    std::size_t number = 0;
    for (const auto& own : grouped(records, [](const Record* r) { return device_key(*r); })) {
        for (const auto* record : own) out[record] = number;
        if (number++ >= most_devices) continue;
        const auto& first = *own.front();
        const bool simulated =
            std::ranges::any_of(own, [](const Record* r) { return model::warns(*r, model::Warning::simulated); });
        grid.devices.push_back({letter_of(number - 1),
                                first.device.name + device_details(first.device, hosts ? first.host.name : "") +
                                    (simulated ? "; simulated, so not ranked" : ""),
                                &first, simulated});
    }
    grid.unshown = number - grid.devices.size();
    if (grid.unshown > 0) return out;  // there is no column left for a lost device
    for (const auto& [device, reason] : lost)
        grid.devices.push_back(
            {letter_of(grid.devices.size()), device.name + device_details(device, "") + "; lost: " + reason});
    return out;
}

/// "A", "A and B", "A, B and C"
std::string listed(const Values& words) {
    if (words.size() < 2) return join(words, "");
    return join({words.begin(), words.end() - 1}, ", ") + " and " + words.back();
}

/// The axes that name a row. Excludes an axis that the variant or the device chose itself, unless it alone tells two
/// cells apart.
Points naming_points(const Rows& rows, const DeviceNumbers& device_of, const MayBeAuto& may_be_auto) {
    Points points(rows, [&](const Record& r) { return std::to_string(device_of.at(&r)) + "\n" + r.variant; });
    points.drop_if([&](std::size_t i) {
        const bool possible = may_be_auto && may_be_auto(rows.front()->family, points.names()[i]);
        return possible && points.differs(i) && points.tell_apart(i);
    });
    return points;
}

/// Ranks the variants of a group on one device. True if some of them did not take turns with the others.
bool rank_on_device(GridGroup& group, std::size_t device, const MayBeAuto& may_be_auto) {
    std::map<const Record*, Rank*> rank_of;
    Rows contenders;
    for (auto& cells : group.cells) {
        if (!cells[device].record) continue;
        contenders.push_back(cells[device].record);
        rank_of[contenders.back()] = &cells[device].rank;
    }
    if (contenders.empty()) return false;
    const auto compared = compare(contenders, may_be_auto);
    for (std::size_t i = 0; i < compared.rows.size(); ++i) *rank_of.at(compared.rows[i]) = compared.ranks[i];
    return compared.apart;
}

GridFamily family_of(const Rows& rows, const DeviceNumbers& device_of, const MayBeAuto& may_be_auto, DeviceGrid& grid) {
    const auto points = naming_points(rows, device_of, may_be_auto);
    GridFamily out{rows.front()->family, {}, {}};
    for (std::size_t axis = 0; axis < points.names().size(); ++axis)
        if (points.differs(axis)) out.varying.insert(points.names()[axis]);
    std::map<std::pair<std::size_t, std::string>, std::size_t> place;  // of a variant in its group
    const auto group_of = points.groups();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Record& record = *rows[i];
        if (group_of[i] == out.groups.size()) {
            out.groups.emplace_back();
            for (const auto& axis : points.names())
                out.groups.back().point.emplace_back(axis, value_at(record.point, axis));
        }
        auto& group = out.groups[group_of[i]];
        const auto [at, is_new] = place.emplace(std::pair(group_of[i], record.id), group.ids.size());
        if (is_new) {
            group.ids.push_back(record.id);
            group.cells.emplace_back(grid.devices.size());
        }
        group.cells[at->second][device_of.at(&record)].record = &record;
    }
    for (auto& group : out.groups)
        for (std::size_t d = 0; d < grid.devices.size(); ++d)
            if (!grid.devices[d].simulated) grid.apart = rank_on_device(group, d, may_be_auto) || grid.apart;
    return out;
}

bool cell_before(const RankedCell& a, const RankedCell& b) {
    return a.rank.compared && b.rank.compared && clearly_before(*a.record, a.rank.ratio, *b.record, b.rank.ratio);
}

/// "x before y on A, after it on B", for each pair of variants that some device orders one way and some the other.
Values reversals(const GridGroup& group, const std::vector<GridDevice>& devices) {
    Values out;
    for (std::size_t a = 0; a < group.ids.size(); ++a) {
        for (std::size_t b = a + 1; b < group.ids.size(); ++b) {
            Values before, after;
            for (std::size_t d = 0; d < devices.size(); ++d) {
                if (cell_before(group.cells[a][d], group.cells[b][d])) before.push_back(devices[d].letter);
                if (cell_before(group.cells[b][d], group.cells[a][d])) after.push_back(devices[d].letter);
            }
            if (!before.empty() && !after.empty())
                out.push_back(group.ids[a] + " before " + group.ids[b] + " on " + listed(before) + ", after it on " +
                              listed(after));
        }
    }
    return out;
}

/// The first pairs, and the number of the others. Ends the sentence.
std::string listed_pairs(Values pairs) {
    const auto more = pairs.size() > most_pairs ? pairs.size() - most_pairs : 0;
    pairs.resize(pairs.size() - more);
    return join(pairs, "; ") + (more ? "; and " + std::to_string(more) + " more pairs." : ".");
}

/// A variant that is the fastest on a device.
struct Win {
    std::size_t variant, device;
};

/// Whether all ranked cells of the device took turns, so that there is at most one winner.
bool is_one_set(const GridGroup& group, std::size_t device) {
    std::set<std::size_t> sets;
    for (const auto& cells : group.cells)
        if (cells[device].rank.compared) sets.insert(cells[device].rank.set);
    return sets.size() == 1;
}

}  // namespace

std::vector<const RankedCell*> fastest_first(const GridGroup& group, std::size_t device) {
    std::vector<const RankedCell*> out;
    for (const auto& cells : group.cells)
        if (cells[device].record && cells[device].record->time) out.push_back(&cells[device]);
    std::ranges::stable_sort(out, {}, [](const RankedCell* cell) {
        const auto& rank = cell->rank;
        return std::tuple(!rank.compared, rank.compared ? rank.set : 0, rank.ratio, cell->record->time->median);
    });
    return out;
}

std::string GridFamily::common_point() const {
    return point_text(groups.front().point, [&](const auto& axis, const auto&) { return !varying.contains(axis); });
}

model::PointValues GridFamily::place(const GridGroup& group) const {
    auto out = group.point;
    std::erase_if(out, [&](const auto& one) { return !varying.contains(one.first) || one.second.empty(); });
    return out;
}

std::string GridFamily::where(const GridGroup& group) const { return point_text(place(group)); }

std::string verdict(const GridGroup& group, const std::vector<GridDevice>& devices) {
    std::vector<Win> won;
    for (std::size_t d = 0; d < devices.size(); ++d)
        for (std::size_t v = 0; v < group.ids.size(); ++v)
            if (group.cells[v][d].rank.fastest && is_one_set(group, d)) won.push_back({v, d});
    // Without two winners, pairs may still be told apart.
    if (won.size() < 2) {
        const auto pairs = group.ids.size() > most_variants ? Values{} : reversals(group, devices);
        return pairs.empty() ? "" : "The ranking differs: " + listed_pairs(pairs);
    }
    // A variant that another device did not time was not beaten there.
    Values wins, unranked;
    bool differs = false;
    for (const auto& own : grouped(won, [](const Win& win) { return win.variant; })) {
        const auto v = own.front().variant;
        Values letters, without, apart;
        for (const auto& win : own) letters.push_back(devices[win.device].letter);
        wins.push_back(group.ids[v] + (wins.empty() ? " wins on " : " on ") + listed(letters));
        for (std::size_t d = 0; d < devices.size(); ++d) {
            const bool is_ranked = std::ranges::find(won, d, &Win::device) != won.end();
            const Rank& rank = group.cells[v][d].rank;
            differs = differs || (rank.compared && !rank.fastest && !rank.indistinct);
            if (!is_ranked || rank.compared) continue;
            const auto* record = group.cells[v][d].record;
            (record && record->time ? apart : without).push_back(devices[d].letter);
        }
        if (!without.empty()) unranked.push_back(group.ids[v] + " has no time on " + listed(without));
        if (!apart.empty()) unranked.push_back(group.ids[v] + " is not ranked on " + listed(apart));
    }
    std::string out = (differs ? "The ranking differs: " : "") + join(wins, ", ");
    if (!unranked.empty()) out += "; " + join(unranked, ", ");
    if (group.ids.size() > most_variants)
        return out + "; of more than " + std::to_string(most_variants) + " variants no pairs are compared.";
    const auto pairs = reversals(group, devices);
    if (pairs.empty()) return out + (differs ? "; no pair changes order beyond its intervals." : ".");
    return out + "; order changes beyond the intervals: " + listed_pairs(pairs);
}

DeviceGrid device_grid(const Rows& records, const std::vector<LostDevice>& lost, const MayBeAuto& may_be_auto) {
    DeviceGrid out;
    const auto device_of = add_devices(out, records, lost);
    auto all = records;
    std::erase_if(all, [&](const Record* r) { return device_of.at(r) >= most_devices; });
    for (const auto& family : grouped(all, [](const Record* r) { return r->family; })) {
        Rows shown;
        const auto cell_of = [&](const Record* r) {
            return std::tuple_cat(std::tuple(device_of.at(r)), std::tie(r->variant, r->point));
        };
        for (const auto& runs : grouped(family, cell_of)) shown.push_back(latest_of(runs));
        out.repeated += family.size() - shown.size();
        out.families.push_back(family_of(shown, device_of, may_be_auto, out));
    }
    return out;
}

namespace {

/// The columns of one device: its times, and their ratios if it ranks its variants.
std::vector<Column> device_columns(const GridDevice& device, std::size_t d, const std::vector<GridGroup>& groups) {
    Column times{.title = device.letter, .right = true}, ratios{.title = "", .right = true};
    for (const auto& group : groups) {
        for (const auto& cells : group.cells) {
            const RankedCell& cell = cells[d];
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

/// The columns of `rows` and those of the devices, in as many tables as `width` requires. Width 0: one table.
std::vector<std::vector<Column>> tables_of(const std::vector<Column>& rows, const std::vector<GridDevice>& devices,
                                           const std::vector<GridGroup>& groups, std::size_t width) {
    std::vector<std::vector<Column>> out{rows};
    constexpr std::size_t indent = 2;
    // Names that take more than half of the width go above their row.
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
    if (grid.unshown > 0) out << "  and " << grid.unshown << " more without a column\n";
    for (const auto& family : grid.families) print_family(out, family, devices, style);
    if (grid.apart) out << '\n' << wrap(apart_note, "", style.text_width());
    if (grid.repeated > 0) out << "\nNot shown: " << grid.repeated << " earlier record(s) of cells that ran again.\n";
}

}  // namespace cllab::report
