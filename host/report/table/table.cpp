#include "report/table/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <ostream>
#include <set>

#include "core/grouped.hpp"
#include "core/text.hpp"
#include "report/records/points.hpp"
#include "report/table/columns.hpp"
#include "report/table/layout.hpp"

namespace cllab::report {
namespace {

using model::Record;

/// `cells`: as many as there are in all.
void print_notes(std::ostream& out, const Notes& notes, std::size_t cells, const TableStyle& style) {
    constexpr std::size_t most_ids = 4, most_notes = 200;
    const auto& all = notes.all();
    if (!all.empty()) out << '\n';
    for (std::size_t i = 0; i < std::min(most_notes, all.size()); ++i) {
        const auto alike = grouped(all[i].records, [](const Record* r) { return r->id; });
        const auto whom = all[i].records.size() == cells && cells > 1
                              ? "all " + std::to_string(cells) + " cells"
                              : first_few(alike, most_ids, [](const auto& own) { return own.front()->id; });
        const std::string number = "[" + std::to_string(i + 1) + "] ";
        out << paint(number, Tone::strong, style.colour)
            << wrap_beside(number, all[i].text + " (" + whom + ")", style.text_width()).substr(number.size());
    }
    if (all.size() > most_notes)
        out << wrap(
            std::to_string(all.size() - most_notes) + " more warnings are in the records (--csv FILE writes them)", "",
            style.text_width());
}

/// Where the dumps of rows are, without the last folder.
std::string dump_parents(const Rows& rows) {
    constexpr std::size_t most = 20;
    std::vector<std::string> parents;
    for (const auto* row : rows)
        if (!row->dump.empty()) add_once(parents, row->dump.substr(0, row->dump.rfind('/') + 1));
    return first_few(parents, most, std::identity());
}

/// Takes out of the rows what the device does not support at many points, for one reason each.
std::vector<Rows> take_unsupported(Rows& rows) {
    constexpr std::size_t many = 4;
    const auto key = [](const Record* r) {
        return r->status == model::Status::unsupported ? r->id + "\n" + without_numbers(r->reason) : std::string();
    };
    std::vector<Rows> out;
    for (auto& alike : grouped(rows, key)) {
        const bool folds = alike.size() >= many && alike.front()->status == model::Status::unsupported;
        if (folds) out.push_back(std::move(alike));
    }
    std::set<const Record*> taken;
    for (const auto& alike : out) taken.insert(alike.begin(), alike.end());
    std::erase_if(rows, [&](const Record* r) { return taken.contains(r); });
    return out;
}

void print_unsupported(std::ostream& out, const std::vector<Rows>& folded, std::size_t text_width) {
    for (const auto& alike : folded) {
        const auto& first = *alike.front();
        const bool differ = std::ranges::any_of(alike, [&](const Record* r) { return r->reason != first.reason; });
        out << wrap(fmt::format("{} is unsupported at {} points: {}{}", first.id, alike.size(), one_line(first.reason),
                                differ ? ", and the like" : ""),
                    "  ", text_width);
    }
}

/// Returns what the sentences below all tables say of its ranks.
Unnamed print_family(std::ostream& out, Rows unordered, const Notes& notes, const TableStyle& style,
                     const MayBeAuto& may_be_auto) {
    const std::size_t text_width = style.text_width();
    const auto folded = take_unsupported(unordered);
    if (unordered.empty()) {
        out << '\n' << wrap(folded.front().front()->family, "", text_width);
        print_unsupported(out, folded, text_width);
        return {};
    }
    const Comparison comparison = compare(unordered, may_be_auto);
    const Rows& rows = comparison.rows;
    const auto varying = varying_axes(rows);
    const auto common = common_text(rows, varying);
    out << '\n' << wrap(rows.front()->family + (common.empty() ? "" : ": ") + common, "", text_width);

    const Asked asked(style.columns);
    auto columns = columns_of(comparison, varying, asked, notes);
    const auto missing = asked.missing(columns);
    const auto grid = grid_of(std::move(columns), style);
    auto dropped = grid.dropped();
    out << grid.header() << '\n';
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i > 0 && comparison.groups_of_several && comparison.group[i] != comparison.group[i - 1]) out << '\n';
        out << grid.row(i) << '\n';
        if (rows[i]->status != model::Status::ok) out << wrap(one_line(rows[i]->reason), "      ", text_width);
    }
    print_unsupported(out, folded, text_width);
    if (std::erase(dropped, "dump") > 0) out << wrap("dumps in " + dump_parents(rows), "  ", text_width);
    print_left_out(out, dropped, style);
    if (!missing.empty()) out << wrap("no row has: " + join(missing, ", "), "  ", text_width);
    return comparison;
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
    const Notes notes(records);
    const bool hosts = several_hosts(records);
    // Sections in the order of first appearance: interleaved measurement does not scatter them.
    const auto devices = grouped(records, [](const Record* r) { return device_key(*r); });
    Unnamed unnamed;
    for (const auto& device : devices) {
        const auto& first = *device.front();
        if (&device != &devices.front()) out << '\n';
        out << wrap_heading(first.device.name, device_details(first.device, hosts ? first.host.name : ""),
                            style.text_width(), style.colour);
        for (const auto& family : grouped(device, [](const Record* r) { return r->family; }))
            unnamed.add(print_family(out, family, notes, style, may_be_auto));
    }
    print_totals(out, records, style.colour);
    for (const auto& sentence : ranking_notes(unnamed)) out << wrap(sentence, "", style.text_width());
    print_notes(out, notes, records.size(), style);
}

}  // namespace cllab::report
