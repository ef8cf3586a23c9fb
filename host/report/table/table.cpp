#include "report/table/table.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include "core/grouped.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "report/records/points.hpp"
#include "report/table/columns.hpp"
#include "report/table/layout.hpp"

namespace cllab::report {
namespace {

using model::Record;

/// Warnings of all records, numbered in the order they appear; the rows carry the numbers.
class Footnotes {
public:
    explicit Footnotes(const Rows& records) {
        for (const auto* record : records)
            for (const auto& warning : record->warnings) {
                const auto [number, is_new] = number_of_.emplace(warning, notes_.size());
                if (is_new) notes_.push_back({warning, {}, {}, 0});
                auto& note = notes_[number->second];
                ++note.cells;
                if (note.ids.insert(record->id).second && note.first_ids.size() < most_ids)
                    note.first_ids.push_back(record->id);
            }
    }
    std::string of(const Record& record) const {
        std::set<std::size_t> numbers;
        for (const auto& warning : record.warnings) numbers.insert(number_of_.at(warning) + 1);
        return join(numbers, ",", [](std::size_t number) { return std::to_string(number); });
    }
    void print(std::ostream& out, std::size_t cells, std::size_t width, bool colour) const {
        for (std::size_t i = 0; i < std::min(most_notes, notes_.size()); ++i) {
            const Note& note = notes_[i];
            const auto more = note.ids.size() - note.first_ids.size();
            const auto whom = note.cells == cells && cells > 1
                                  ? "all " + std::to_string(cells) + " cells"
                                  : join(note.first_ids, ", ") + (more ? " and " + std::to_string(more) + " more" : "");
            const std::string number = "[" + std::to_string(i + 1) + "] ";
            out << paint(number, Tone::strong, colour)
                << wrap_beside(number, note.text + " (" + whom + ")", width).substr(number.size());
        }
        if (notes_.size() > most_notes)
            out << wrap(std::to_string(notes_.size() - most_notes) +
                            " more warnings are in the records (--csv FILE writes them)",
                        "", width);
    }
    bool empty() const { return notes_.empty(); }

private:
    static constexpr std::size_t most_ids = 4, most_notes = 200;
    struct Note {
        std::string text;
        std::set<std::string> ids;
        std::vector<std::string> first_ids;
        std::size_t cells;
    };
    std::vector<Note> notes_;
    std::map<std::string, std::size_t> number_of_;
};

/// Where the dumps of rows are, without the last folder.
std::string dump_parents(const Rows& rows) {
    constexpr std::size_t most = 20;
    std::set<std::string> seen;
    std::vector<std::string> parents;
    for (const auto* row : rows) {
        if (row->dump.empty()) continue;
        const auto parent = row->dump.substr(0, row->dump.rfind('/') + 1);
        if (seen.insert(parent).second && parents.size() < most) parents.push_back(parent);
    }
    return join(parents, ", ") + (seen.size() > most ? " and " + std::to_string(seen.size() - most) + " more" : "");
}

/// What the sentences below all tables say of their ranks.
struct Ranked {
    double difference = 0;
    bool apart = false;
};

void print_family(std::ostream& out, const Rows& unordered, const Footnotes& notes, const TableStyle& style,
                  const MayBeAuto& may_be_auto, Ranked& ranked) {
    const std::size_t text_width = style.text_width();
    const Comparison comparison = compare(unordered, may_be_auto);
    ranked.difference = std::max(ranked.difference, comparison.difference);
    ranked.apart = ranked.apart || comparison.apart;
    const Rows& rows = comparison.rows;
    const auto varying = varying_axes(rows);
    std::vector<std::string> common;
    for (const auto& [axis, value] : rows.front()->point)
        if (!varying.count(axis)) common.push_back(axis + "=" + value);
    if (const auto cache = common_cache(rows); !cache.empty() && cache != "hot") {
        const auto& device = rows.front()->device;
        common.push_back("cache=" + cache);
        if (device.last_level_bytes > 0)
            common.push_back("(4 times the last level, " + format_bytes(device.last_level_bytes) + " " +
                             device.last_level_from + ")");
    }
    out << '\n' << wrap(rows.front()->family + (common.empty() ? "" : ": ") + join(common, " "), "", text_width);

    const Asked asked(style.columns);
    auto columns = columns_of(comparison, varying, asked, [&](const Record& r) { return notes.of(r); });
    const auto missing = asked.missing(columns);
    asked.choose(columns);
    const Grid grid(std::move(columns), asked.any() ? 0 : style.width, style.colour);
    auto dropped = grid.dropped();
    out << grid.header() << '\n';
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i > 0 && comparison.groups_of_several && comparison.group[i] != comparison.group[i - 1]) out << '\n';
        out << grid.row(i) << '\n';
        if (rows[i]->status != model::Status::ok) out << wrap(one_line(rows[i]->reason), "      ", text_width);
    }
    const auto dump = std::ranges::find(dropped, "dump");
    if (dump != dropped.end()) {
        dropped.erase(dump);
        out << wrap("dumps in " + dump_parents(rows), "  ", text_width);
    }
    print_left_out(out, dropped, style);
    if (!missing.empty()) out << wrap("no row has: " + join(missing, ", "), "  ", text_width);
}

void print_totals(std::ostream& out, const Rows& records, bool colour) {
    if (records.size() < 2) return;
    std::map<model::Status, std::size_t> counts;
    for (const auto* record : records) ++counts[record->status];
    const auto part = [&](const auto& one) {
        return paint(std::to_string(one.second) + " " + model::name(one.first),
                     is_failure(one.first) ? Tone::bad : Tone::plain, colour);
    };
    out << '\n' << records.size() << " cells: " << join(counts, ", ", part) << '\n';
}

}  // namespace

std::string column_name(std::string_view text) {
    std::string out(text.substr(text.substr(0, 1) == "."));  // ".reuse" is reuse
    std::ranges::replace_if(
        out, [](char c) { return c == ' ' || c == '-'; }, '_');
    return out;
}

void print_table(std::ostream& out, const Rows& records, const TableStyle& style, const MayBeAuto& may_be_auto) {
    const Footnotes notes(records);
    const bool hosts = several_hosts(records);
    // Sections in the order of first appearance: interleaved measurement does not scatter them.
    const auto devices = grouped(records, [](const Record* r) { return device_key(*r); });
    Ranked ranked;
    for (const auto& device : devices) {
        const auto& first = *device.front();
        if (&device != &devices.front()) out << '\n';
        out << wrap_heading(first.device.name, device_details(first.device, hosts ? first.host.name : ""),
                            style.text_width(), style.colour);
        for (const auto& family : grouped(device, [](const Record* r) { return r->family; }))
            print_family(out, family, notes, style, may_be_auto, ranked);
    }
    print_totals(out, records, style.colour);
    for (const auto& sentence : ranking_notes(ranked.difference, ranked.apart))
        out << wrap(sentence, "", style.text_width());
    if (!notes.empty()) out << '\n';
    notes.print(out, records.size(), style.text_width(), style.colour);
}

}  // namespace cllab::report
