#include "report/by_device.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include "core/text.hpp"
#include "core/units.hpp"
#include "report/device_key.hpp"
#include "report/layout.hpp"

namespace cllab::report {
namespace {

using model::Record;
using Rows = std::vector<const Record*>;
using Values = std::vector<std::string>;

constexpr std::size_t most_pairs = 6;  // a sentence, not a second table

struct Device {
    std::string key, letter, description;
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

std::vector<Device> devices_of(const std::vector<Record>& records, const std::vector<LostDevice>& lost) {
    const bool hosts = several_hosts(records);
    std::vector<Device> out;
    for (const auto& record : records) {
        const auto key = device_key(record);
        auto at = std::find_if(out.begin(), out.end(), [&](const Device& d) { return d.key == key; });
        if (at == out.end())
            at = out.insert(at, {key, letter_of(out.size()), record.device.name + device_details(record.device, hosts ? record.host.name : "")});
        at->simulated = at->simulated || is_simulated(record);
    }
    for (auto& device : out)
        if (device.simulated) device.description += "; simulated, so not ranked";
    for (const auto& [device, reason] : lost)
        out.push_back({"", letter_of(out.size()), device.name + device_details(device, "") + "; lost: " + reason, true});
    return out;
}

/// "A", "A and B", "A, B and C"
std::string listed(const Values& words) {
    if (words.size() < 2) return join(words, "");
    return join({words.begin(), words.end() - 1}, ", ") + " and " + words.back();
}

/// The latest record of each cell, in the order of the first.
Rows latest(const Rows& rows, std::size_t& repeated) {
    Rows out;
    for (const auto* row : rows) {
        const auto same = std::find_if(out.begin(), out.end(), [&](const Record* r) {
            return r->variant == row->variant && r->point == row->point && device_key(*r) == device_key(*row);
        });
        if (same == out.end()) {
            out.push_back(row);
        } else {
            ++repeated;
            if (row->utc >= (*same)->utc) *same = row;
        }
    }
    return out;
}

std::string value_at(const Record& r, const std::string& axis) {
    for (const auto& [name, value] : r.point)
        if (name == axis) return value;
    return {};
}

Values values_at(const Record& r, const Values& axes) {
    Values out;
    for (const auto& axis : axes) out.push_back(value_at(r, axis));
    return out;
}

/// The axes that name a row. What a variant or device chose for itself does not, unless it is all that tells two cells apart.
Values naming_axes(const Rows& rows, const MayBeAuto& may_be_auto) {
    Values axes;
    for (const auto* row : rows)
        for (const auto& [axis, value] : row->point)
            if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
    const auto tells_cells_apart = [&](const Values& some) {
        std::set<std::pair<std::string, Values>> seen;
        return std::all_of(rows.begin(), rows.end(), [&](const Record* r) {
            return seen.insert({device_key(*r) + "\n" + r->variant, values_at(*r, some)}).second;
        });
    };
    for (std::size_t i = 0; i < axes.size();) {
        auto fewer = axes;
        fewer.erase(fewer.begin() + static_cast<long>(i));
        const bool differs = std::any_of(rows.begin(), rows.end(), [&](const Record* r) {
            return value_at(*r, axes[i]) != value_at(*rows.front(), axes[i]);
        });
        if (differs && may_be_auto && may_be_auto(rows.front()->family, axes[i]) && tells_cells_apart(fewer)) axes = std::move(fewer);
        else ++i;
    }
    return axes;
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

std::vector<Group> groups_of(const Rows& rows, const Values& axes, const std::vector<Device>& devices, const MayBeAuto& may_be_auto) {
    std::vector<Group> out;
    for (const auto* row : rows) {
        const auto point = values_at(*row, axes);
        auto group = std::find_if(out.begin(), out.end(), [&](const Group& g) { return g.point == point; });
        if (group == out.end()) group = out.insert(group, Group{point, {}, {}});
        const auto v = static_cast<std::size_t>(std::find(group->ids.begin(), group->ids.end(), row->id) - group->ids.begin());
        if (v == group->ids.size()) group->ids.push_back(row->id), group->cells.emplace_back(devices.size());
        const auto d = std::find_if(devices.begin(), devices.end(), [&](const Device& device) { return device.key == device_key(*row); });
        group->cells[v][static_cast<std::size_t>(d - devices.begin())].record = row;
    }
    for (auto& group : out) {
        for (std::size_t d = 0; d < devices.size(); ++d) {
            Rows contenders;
            for (const auto& cells : group.cells)
                if (cells[d].record) contenders.push_back(cells[d].record);
            if (contenders.empty() || devices[d].simulated) continue;
            const auto compared = compare(contenders, may_be_auto);
            for (auto& cells : group.cells)
                for (std::size_t i = 0; i < compared.rows.size(); ++i)
                    if (cells[d].record == compared.rows[i]) cells[d].rank = compared.ranks[i];
        }
    }
    return out;
}

/// True when a is faster than b and their intervals do not meet. Both are of one device.
bool clearly_before(const Cell& a, const Cell& b) {
    if (!a.rank.compared || !b.rank.compared) return false;
    const auto &s = *a.record->time, &t = *b.record->time;
    return a.rank.ratio * s.high / s.median < b.rank.ratio * t.low / t.median;
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

/// Empty when fewer than two devices rank the variants of this point.
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
    if (ranked.size() < 2) return {};
    // A variant that another device did not time was not beaten there.
    Values wins, untimed;
    bool differs = false;
    for (const auto& [v, letters] : winners) {
        wins.push_back(group.ids[v] + (wins.empty() ? " wins on " : " on ") + listed(letters));
        Values without;
        for (std::size_t d = 0; d < devices.size(); ++d) {
            const bool is_ranked = std::find(ranked.begin(), ranked.end(), devices[d].letter) != ranked.end();
            const Rank& rank = group.cells[v][d].rank;
            differs = differs || (rank.compared && !rank.fastest);
            if (is_ranked && !rank.compared) without.push_back(devices[d].letter);
        }
        if (!without.empty()) untimed.push_back(group.ids[v] + " has no time on " + listed(without));
    }
    std::string out = (differs ? "The ranking differs: " : "") + join(wins, ", ");
    if (!untimed.empty()) out += "; " + join(untimed, ", ");
    auto pairs = reversals(group, devices);
    if (pairs.empty()) return out + (differs ? "; no pair changes order beyond its intervals." : ".");
    const auto more = pairs.size() > most_pairs ? pairs.size() - most_pairs : 0;
    pairs.resize(pairs.size() - more);
    return out + "; order changes beyond the intervals: " + join(pairs, "; ") + (more ? "; and " + std::to_string(more) + " more pairs." : ".");
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

void print_family(std::ostream& out, const Rows& rows, const std::vector<Device>& devices, const MayBeAuto& may_be_auto, const TableStyle& style) {
    const auto axes = naming_axes(rows, may_be_auto);
    const auto groups = groups_of(rows, axes, devices, may_be_auto);
    std::string title = rows.front()->family;
    std::vector<Column> columns{{.title = "kernel", .cells = {}}};
    for (std::size_t a = 0; a < axes.size(); ++a) {
        const auto& first = groups.front().point[a];
        if (std::all_of(groups.begin(), groups.end(), [&](const Group& g) { return g.point[a] == first; })) {
            title += (title == rows.front()->family ? ": " : " ") + axes[a] + "=" + first;
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
        out << header_line(table, style.colour) << '\n';
        std::size_t row = 0;
        for (const auto& group : groups) {
            if (row > 0 && group.ids.size() > 1) out << '\n';
            const std::size_t first = row;
            for (std::size_t v = 0; v < group.ids.size(); ++v) out << row_line(table, row++, style.colour) << '\n';
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
    if (records.empty() || devices.size() < 2) return;
    out << '\n' << wrap_heading("Variants by devices", ": median time, and how many times that of the device's fastest", style.text_width(), style.colour);
    for (const auto& device : devices) out << wrap_beside("  " + device.letter + "  ", device.description, style.text_width());
    std::vector<Rows> families;
    for (const auto& record : records) {
        auto family = std::find_if(families.begin(), families.end(), [&](const Rows& f) { return f.front()->family == record.family; });
        if (family == families.end()) family = families.insert(family, Rows{});
        family->push_back(&record);
    }
    std::size_t repeated = 0;
    for (const auto& family : families) print_family(out, latest(family, repeated), devices, may_be_auto, style);
    if (repeated > 0) out << "\nLeft out here: " << repeated << " earlier record(s) of cells that were run again.\n";
}

}  // namespace cllab::report
