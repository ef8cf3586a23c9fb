#include "report/by_device.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <tuple>

#include "core/text.hpp"
#include "core/units.hpp"
#include "report/device_key.hpp"
#include "report/layout.hpp"
#include "report/points.hpp"

namespace cllab::report {
namespace {

using model::Record;
using Rows = std::vector<const Record*>;
using Values = std::vector<std::string>;

constexpr std::size_t most_pairs = 6;       // a sentence, not a second table
constexpr std::size_t most_devices = 64;    // columns
constexpr std::size_t most_variants = 200;  // whose pairs are looked at

struct Device {
    std::string letter, description;
    bool lost = false, simulated = false;
};

/// A, B, … Z, AA, AB, …
std::string letter_of(std::size_t n) {
    std::string out(1, static_cast<char>('A' + n % 26));
    return n < 26 ? out : letter_of(n / 26 - 1) + out;
}

bool is_simulated(const Record& r) {
    return std::any_of(r.warnings.begin(), r.warnings.end(), [](const auto& w) { return w.rfind("simulated:", 0) == 0; });
}

/// The devices in order of first appearance, and which of them each record is of.
struct Devices {
    std::vector<Device> all;
    std::vector<std::size_t> of_record;
    std::size_t unshown = 0;  ///< devices beyond most_devices; their records are of device `all.size()` or above
};

Devices devices_of(const std::vector<Record>& records, const std::vector<LostDevice>& lost) {
    const bool hosts = several_hosts(records);
    Devices out;
    std::map<std::string, std::size_t> known;
    for (const auto& record : records) {
        const auto [at, is_new] = known.emplace(device_key(record), known.size());
        out.of_record.push_back(at->second);
        if (at->second >= most_devices) continue;
        if (is_new) out.all.push_back({letter_of(at->second), record.device.name + device_details(record.device, hosts ? record.host.name : "")});
        auto& device = out.all[at->second];
        device.simulated = device.simulated || is_simulated(record);
    }
    out.unshown = known.size() - std::min(known.size(), most_devices);
    for (auto& device : out.all)
        if (device.simulated) device.description += "; simulated, so not ranked";
    if (out.unshown > 0) return out;  // no column is free for one that has no record
    for (const auto& [device, reason] : lost)
        out.all.push_back({letter_of(out.all.size()), device.name + device_details(device, "") + "; lost: " + reason, true});
    return out;
}

/// "A", "A and B", "A, B and C"
std::string listed(const Values& words) {
    if (words.size() < 2) return join(words, "");
    return join({words.begin(), words.end() - 1}, ", ") + " and " + words.back();
}

/// The record of one family on one of the devices shown.
struct Row {
    const Record* record;
    std::size_t device;
};

/// The latest record of each cell, in the order of the first.
std::vector<Row> latest(const std::vector<Row>& rows, std::size_t& repeated) {
    std::vector<Row> out;
    std::map<std::tuple<std::size_t, std::string, std::vector<std::pair<std::string, std::string>>>, std::size_t> known;
    for (const auto& row : rows) {
        const auto [at, is_new] = known.emplace(std::tuple(row.device, row.record->variant, row.record->point), out.size());
        if (is_new) {
            out.push_back(row);
        } else {
            ++repeated;
            if (auto& earlier = out[at->second]; row.record->utc >= earlier.record->utc) earlier = row;
        }
    }
    return out;
}

/// The axes that name a row. What a variant or device chose for itself does not, unless it is all that tells two cells apart.
Points naming_points(const std::vector<Row>& rows, const MayBeAuto& may_be_auto) {
    Rows records;
    std::map<const Record*, std::size_t> device;
    for (const auto& row : rows) {
        records.push_back(row.record);
        device[row.record] = row.device;
    }
    Points points(records, [&](const Record& r) { return std::to_string(device.at(&r)) + "\n" + r.variant; });
    for (std::size_t i = 0; i < points.axes();) {
        const bool possible = may_be_auto && may_be_auto(records.front()->family, points.name(i));
        if (possible && points.differs(i) && points.tell_apart_without(i)) points.drop(i);
        else ++i;
    }
    return points;
}

struct Cell {
    const Record* record = nullptr;  ///< nothing: this variant was not run there
    Rank rank;
};

/// All variants at one point: `cells[v][d]` is that of variant v on device d.
struct Group {
    Values point, ids;
    std::vector<std::vector<Cell>> cells;
};

std::vector<Group> groups_of(const std::vector<Row>& rows, const Points& points, const std::vector<Device>& devices,
                             const MayBeAuto& may_be_auto) {
    std::vector<Group> out;
    std::map<std::pair<std::size_t, std::string>, std::size_t> place;  // of a variant in its group
    const auto group_of = points.groups();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Record& record = *rows[i].record;
        if (group_of[i] == out.size()) {
            out.emplace_back();
            for (const auto& axis : points.names()) out.back().point.push_back(value_at(record, axis));
        }
        auto& group = out[group_of[i]];
        const auto [at, is_new] = place.emplace(std::pair(group_of[i], record.id), group.ids.size());
        if (is_new) group.ids.push_back(record.id), group.cells.emplace_back(devices.size());
        group.cells[at->second][rows[i].device].record = &record;
    }
    for (auto& group : out) {
        for (std::size_t d = 0; d < devices.size(); ++d) {
            Rows contenders;
            for (const auto& cells : group.cells)
                if (cells[d].record) contenders.push_back(cells[d].record);
            if (contenders.empty() || devices[d].simulated) continue;
            const auto compared = compare(contenders, may_be_auto);
            std::map<const Record*, const Rank*> rank_of;
            for (std::size_t i = 0; i < compared.rows.size(); ++i) rank_of[compared.rows[i]] = &compared.ranks[i];
            for (auto& cells : group.cells)
                if (cells[d].record) cells[d].rank = *rank_of.at(cells[d].record);
        }
    }
    return out;
}

bool clearly_before(const Cell& a, const Cell& b) {
    return a.rank.compared && b.rank.compared && report::clearly_before(*a.record, a.rank.ratio, *b.record, b.rank.ratio);
}

/// "x before y on A, after it on B", for each pair of variants that some device orders one way and some the other.
Values reversals(const Group& group, const std::vector<Device>& devices) {
    Values out;
    for (std::size_t a = 0; a < group.ids.size(); ++a) {
        for (std::size_t b = a + 1; b < group.ids.size(); ++b) {
            Values before, after;
            for (std::size_t d = 0; d < devices.size(); ++d) {
                if (clearly_before(group.cells[a][d], group.cells[b][d])) before.push_back(devices[d].letter);
                if (clearly_before(group.cells[b][d], group.cells[a][d])) after.push_back(devices[d].letter);
            }
            if (!before.empty() && !after.empty())
                out.push_back(group.ids[a] + " before " + group.ids[b] + " on " + listed(before) + ", after it on " + listed(after));
        }
    }
    return out;
}

/// The first few, and how many more there are; ends the sentence.
std::string listed_pairs(Values pairs) {
    const auto more = pairs.size() > most_pairs ? pairs.size() - most_pairs : 0;
    pairs.resize(pairs.size() - more);
    return join(pairs, "; ") + (more ? "; and " + std::to_string(more) + " more pairs." : ".");
}

/// Empty when fewer than two devices rank the variants of this point and no pair changes order.
std::string verdict(const Group& group, const std::vector<Device>& devices) {
    std::vector<std::pair<std::size_t, Values>> winners;  // variant and the letters where it wins, in order of the devices
    Values ranked;
    for (std::size_t d = 0; d < devices.size(); ++d) {
        for (std::size_t v = 0; v < group.ids.size(); ++v) {
            if (!group.cells[v][d].rank.fastest) continue;
            ranked.push_back(devices[d].letter);
            const auto known = std::find_if(winners.begin(), winners.end(), [&](const auto& w) { return w.first == v; });
            if (known == winners.end()) winners.push_back({v, {devices[d].letter}});
            else known->second.push_back(devices[d].letter);
        }
    }
    // Without a winner on each, pairs may still be told apart.
    if (ranked.size() < 2) {
        const auto pairs = group.ids.size() > most_variants ? Values{} : reversals(group, devices);
        return pairs.empty() ? "" : "The ranking differs: " + listed_pairs(pairs);
    }
    // A variant that another device did not time was not beaten there.
    Values wins, untimed;
    bool differs = false;
    for (const auto& [v, letters] : winners) {
        wins.push_back(group.ids[v] + (wins.empty() ? " wins on " : " on ") + listed(letters));
        Values without;
        for (std::size_t d = 0; d < devices.size(); ++d) {
            const bool is_ranked = std::find(ranked.begin(), ranked.end(), devices[d].letter) != ranked.end();
            const Rank& rank = group.cells[v][d].rank;
            differs = differs || (rank.compared && !rank.fastest && !rank.indistinct);
            if (is_ranked && !rank.compared) without.push_back(devices[d].letter);
        }
        if (!without.empty()) untimed.push_back(group.ids[v] + " has no time on " + listed(without));
    }
    std::string out = (differs ? "The ranking differs: " : "") + join(wins, ", ");
    if (!untimed.empty()) out += "; " + join(untimed, ", ");
    if (group.ids.size() > most_variants) return out + "; of more than " + std::to_string(most_variants) + " variants no pairs are compared.";
    const auto pairs = reversals(group, devices);
    if (pairs.empty()) return out + (differs ? "; no pair changes order beyond its intervals." : ".");
    return out + "; order changes beyond the intervals: " + listed_pairs(pairs);
}

/// The columns of one device: its times, and their ratios where it ranks its variants.
std::vector<Column> device_columns(const Device& device, std::size_t d, const std::vector<Group>& groups) {
    Column times{.title = device.letter, .right = true, .cells = {}}, ratios{.title = "", .right = true, .cells = {}};
    for (const auto& group : groups) {
        for (const auto& cells : group.cells) {
            const Cell& cell = cells[d];
            const Record* r = cell.record;
            const bool ok = r && r->status == model::Status::ok;
            times.cells.push_back(device.lost ? "lost" : !r ? "-" : ok && r->time ? format_seconds(r->time->median) : model::name(r->status));
            times.tones.push_back(device.lost || (r && is_failure(r->status)) ? Tone::bad : ok ? Tone::plain : Tone::dim);
            const Rank& rank = cell.rank;
            ratios.cells.push_back(rank.fastest ? "fastest" : rank.compared ? (rank.indistinct ? "~" : "") + format_significant(rank.ratio, 3) + "x" : "");
            ratios.tones.push_back(rank.fastest ? Tone::good : Tone::plain);
        }
    }
    std::vector<Column> out{std::move(times)};
    if (std::any_of(ratios.cells.begin(), ratios.cells.end(), [](const auto& c) { return !c.empty(); })) out.push_back(std::move(ratios));
    return out;
}

/// The devices' columns behind those of `rows`, in as many tables below one another as `width` asks for; 0 asks for one.
std::vector<std::vector<Column>> tables_of(const std::vector<Column>& rows, const std::vector<Device>& devices, const std::vector<Group>& groups,
                                           std::size_t width) {
    std::vector<std::vector<Column>> out{rows};
    for (std::size_t d = 0; d < devices.size(); ++d) {
        const auto columns = device_columns(devices[d], d, groups);
        if (width != 0 && out.back().size() > rows.size() && width_of(out.back()) + width_of(columns) > width) out.push_back(rows);
        out.back().insert(out.back().end(), columns.begin(), columns.end());
    }
    return out;
}

void print_family(std::ostream& out, const std::vector<Row>& rows, const std::vector<Device>& devices,
                  const MayBeAuto& may_be_auto, const TableStyle& style) {
    const auto points = naming_points(rows, may_be_auto);
    const auto axes = points.names();
    const auto groups = groups_of(rows, points, devices, may_be_auto);
    const std::string& family = rows.front().record->family;
    std::string title = family;
    std::vector<Column> columns{{.title = "kernel", .cells = {}}};
    for (std::size_t a = 0; a < axes.size(); ++a) {
        const auto& first = groups.front().point[a];
        if (std::all_of(groups.begin(), groups.end(), [&](const Group& g) { return g.point[a] == first; })) {
            title += (title == family ? ": " : " ") + axes[a] + "=" + first;
            continue;
        }
        columns.push_back({.title = axes[a], .right = true, .cells = {}});
        for (const auto& group : groups) columns.back().cells.insert(columns.back().cells.end(), group.ids.size(), group.point[a]);
    }
    const std::size_t varying = columns.size() - 1;
    for (const auto& group : groups) columns.front().cells.insert(columns.front().cells.end(), group.ids.begin(), group.ids.end());
    out << '\n' << wrap(title, "", style.text_width());
    const auto tables = tables_of(columns, devices, groups, style.width);
    for (const auto& table : tables) {
        if (&table != &tables.front()) out << '\n';
        const Grid grid(table, 0, style.colour);
        out << grid.header() << '\n';
        std::size_t row = 0;
        for (const auto& group : groups) {
            if (row > 0 && group.ids.size() > 1) out << '\n';
            const std::size_t first = row;
            for (std::size_t v = 0; v < group.ids.size(); ++v) out << grid.row(row++) << '\n';
            std::string sentence = verdict(group, devices);
            if (sentence.empty() || &table != &tables.back()) continue;
            Values where;
            for (std::size_t a = 1; a <= varying; ++a) where.push_back(columns[a].title + "=" + columns[a].cells[first]);
            if (!where.empty()) sentence = "At " + join(where, " ") + ": " + sentence;
            out << wrap(sentence, "      ", style.text_width());
        }
    }
}

}  // namespace

void print_by_device(std::ostream& out, const std::vector<Record>& records, const std::vector<LostDevice>& lost,
                     const MayBeAuto& may_be_auto, const TableStyle& style) {
    const auto devices = devices_of(records, lost);
    if (records.empty() || devices.all.size() < 2) return;
    out << '\n' << wrap_heading("Variants by devices", ": median time, and how many times that of the device's fastest", style.text_width(), style.colour);
    for (const auto& device : devices.all) out << wrap_beside("  " + device.letter + "  ", device.description, style.text_width());
    if (devices.unshown > 0) out << "  and " << devices.unshown << " more, which have no column\n";
    std::vector<std::vector<Row>> families;
    std::map<std::string, std::size_t> family_at;
    for (std::size_t i = 0; i < records.size(); ++i) {
        if (devices.of_record[i] >= most_devices) continue;
        const auto [at, is_new] = family_at.emplace(records[i].family, families.size());
        if (is_new) families.emplace_back();
        families[at->second].push_back({&records[i], devices.of_record[i]});
    }
    std::size_t repeated = 0;
    for (const auto& family : families) print_family(out, latest(family, repeated), devices.all, may_be_auto, style);
    if (repeated > 0) out << "\nLeft out here: " << repeated << " earlier record(s) of cells that were run again.\n";
}

}  // namespace cllab::report
