#include "report/table/device_grid.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/grouped.hpp"
#include "core/text.hpp"
#include "model/warning.hpp"
#include "report/records/points.hpp"

namespace cllab::report {
namespace {

using model::Record;
using Values = std::vector<std::string>;

constexpr std::size_t most_pairs = 6;       // a sentence, not a second table
constexpr std::size_t most_variants = 200;  // whose pairs are looked at

/// A, B, … Z, AA, AB, …
std::string letter_of(std::size_t n) {
    std::string out(1, static_cast<char>('A' + n % 26));
    return n < 26 ? out : letter_of(n / 26 - 1) + out;
}

/// The devices in order of first appearance, and which of them each record is of.
struct Devices {
    std::vector<GridDevice> all;
    std::map<std::string, std::size_t> number;  ///< by key; from most_devices on they are not shown
};

Devices devices_of(const Rows& records, const std::vector<LostDevice>& lost) {
    const bool hosts = several_hosts(records);
    Devices out;
    for (const auto& own : grouped(records, [](const Record* r) { return device_key(*r); })) {
        const auto& first = *own.front();
        const auto number = out.number.size();
        out.number[device_key(first)] = number;
        if (number >= most_devices) continue;
        const bool simulated =
            std::ranges::any_of(own, [](const Record* r) { return model::warns(*r, model::Warning::simulated); });
        out.all.push_back({letter_of(number),
                           first.device.name + device_details(first.device, hosts ? first.host.name : "") +
                               (simulated ? "; simulated, so not ranked" : ""),
                           &first, simulated});
    }
    if (out.number.size() > most_devices) return out;  // no column is free for one that has no record
    for (const auto& [device, reason] : lost)
        out.all.push_back({letter_of(out.all.size()), device.name + device_details(device, "") + "; lost: " + reason});
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
        const auto [at, is_new] =
            known.emplace(std::tuple(row.device, row.record->variant, row.record->point), out.size());
        if (is_new) {
            out.push_back(row);
        } else {
            ++repeated;
            if (auto& earlier = out[at->second]; row.record->utc >= earlier.record->utc) earlier = row;
        }
    }
    return out;
}

/// The axes that name a row. What a variant or device chose for itself does not, unless it is all that tells two cells
/// apart.
Points naming_points(const std::vector<Row>& rows, const MayBeAuto& may_be_auto) {
    Rows records;
    std::map<const Record*, std::size_t> device;
    for (const auto& row : rows) {
        records.push_back(row.record);
        device[row.record] = row.device;
    }
    Points points(records, [&](const Record& r) { return std::to_string(device.at(&r)) + "\n" + r.variant; });
    points.drop_if([&](std::size_t i) {
        const bool possible = may_be_auto && may_be_auto(records.front()->family, points.name(i));
        return possible && points.differs(i) && points.tell_apart_without(i);
    });
    return points;
}

std::vector<GridGroup> groups_of(const std::vector<Row>& rows, const Points& points, const MayBeAuto& may_be_auto,
                                 DeviceGrid& grid) {
    const auto& devices = grid.devices;
    std::vector<GridGroup> out;
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
            grid.difference = std::max(grid.difference, compared.difference);
            grid.apart = grid.apart || compared.apart;
            std::map<const Record*, const Rank*> rank_of;
            for (std::size_t i = 0; i < compared.rows.size(); ++i) rank_of[compared.rows[i]] = &compared.ranks[i];
            for (auto& cells : group.cells)
                if (cells[d].record) cells[d].rank = *rank_of.at(cells[d].record);
        }
    }
    return out;
}

bool cell_before(const GridCell& a, const GridCell& b) {
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

/// The first few, and how many more there are; ends the sentence.
std::string listed_pairs(Values pairs) {
    const auto more = pairs.size() > most_pairs ? pairs.size() - most_pairs : 0;
    pairs.resize(pairs.size() - more);
    return join(pairs, "; ") + (more ? "; and " + std::to_string(more) + " more pairs." : ".");
}

/// A variant that is the fastest on a device.
struct Win {
    std::size_t variant, device;
};

/// Whether all that is ranked on the device took turns, so that there is one winner at the most.
bool is_one_set(const GridGroup& group, std::size_t device) {
    std::set<std::size_t> sets;
    for (const auto& cells : group.cells)
        if (cells[device].rank.compared) sets.insert(cells[device].rank.set);
    return sets.size() == 1;
}

}  // namespace

bool GridFamily::differs(std::size_t axis) const {
    return std::ranges::any_of(groups, [&](const auto& g) { return g.point[axis] != groups.front().point[axis]; });
}

std::string GridFamily::common_point() const {
    Values parts;
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
        if (!differs(axis)) parts.push_back(axes[axis] + "=" + groups.front().point[axis]);
    return join(parts, " ");
}

std::string verdict(const GridGroup& group, const std::vector<GridDevice>& devices) {
    std::vector<Win> won;
    for (std::size_t d = 0; d < devices.size(); ++d)
        for (std::size_t v = 0; v < group.ids.size(); ++v)
            if (group.cells[v][d].rank.fastest && is_one_set(group, d)) won.push_back({v, d});
    // Without a winner on each, pairs may still be told apart.
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
    auto devices = devices_of(records, lost);
    out.devices = std::move(devices.all);
    out.unshown = devices.number.size() - std::min(devices.number.size(), most_devices);
    std::vector<Row> all;
    for (const auto* r : records)
        if (const auto number = devices.number.at(device_key(*r)); number < most_devices) all.push_back({r, number});
    for (const auto& rows : grouped(all, [](const Row& row) { return row.record->family; })) {
        const auto shown = latest(rows, out.repeated);
        const auto points = naming_points(shown, may_be_auto);
        out.families.push_back(
            {rows.front().record->family, points.names(), groups_of(shown, points, may_be_auto, out)});
    }
    return out;
}

}  // namespace cllab::report
