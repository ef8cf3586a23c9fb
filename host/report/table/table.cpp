#include "report/table/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <ostream>
#include <set>

#include "core/grouped.hpp"
#include "core/text.hpp"
#include "model/warning.hpp"
#include "report/records/points.hpp"
#include "report/table/columns.hpp"
#include "report/table/layout.hpp"
#include "report/table/verdict.hpp"

namespace cllab::report {
namespace {

using model::Record;

/// `cells`: the number of all cells.
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

/// The parent folders of the rows' dumps.
std::string dump_parents(const Rows& rows) {
    constexpr std::size_t most = 20;
    std::vector<std::string> parents;
    for (const auto* row : rows)
        if (!row->dump.empty()) add_once(parents, row->dump.substr(0, row->dump.rfind('/') + 1));
    return first_few(parents, most, std::identity());
}

/// Removes from the rows what the device does not support at many points. Returns it by variant and reason.
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

/// The sentences below a table. None for a simulator, whose times mean nothing.
std::vector<std::string> sentences_of(const Comparison& comparison) {
    const auto simulated = [](const Record* r) { return model::warns(*r, model::Warning::simulated); };
    return std::ranges::any_of(comparison.rows, simulated) ? std::vector<std::string>() : table_sentences(comparison);
}

/// True if timed rows of a group did not take turns with each other.
bool print_family(std::ostream& out, Rows unordered, const Notes& notes, const TableStyle& style,
                  const MayBeAuto& may_be_auto) {
    const std::size_t text_width = style.text_width();
    const auto folded = take_unsupported(unordered);
    if (unordered.empty()) {
        out << '\n' << wrap(folded.front().front()->family, "", text_width);
        print_unsupported(out, folded, text_width);
        return false;
    }
    const Comparison comparison = compare(unordered, may_be_auto);
    const Rows& rows = comparison.rows;
    const auto varying = varying_axes(rows);
    const auto common = common_text(rows, varying);
    out << '\n' << wrap(rows.front()->family + (common.empty() ? "" : ": ") + common, "", text_width);

    const RequestedColumns asked(style.columns);
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
    for (const auto& sentence : sentences_of(comparison)) out << wrap(sentence, "", text_width);
    return comparison.apart;
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
    bool apart = false;
    for (const auto& device : devices) {
        const auto& first = *device.front();
        if (&device != &devices.front()) out << '\n';
        out << wrap_heading(first.device.name, device_details(first.device, hosts ? first.host.name : ""),
                            style.text_width(), style.colour);
        for (const auto& family : grouped(device, [](const Record* r) { return r->family; }))
            apart = print_family(out, family, notes, style, may_be_auto) || apart;
    }
    print_totals(out, records, style.colour);
    if (apart) out << wrap(apart_note, "", style.text_width());
    print_notes(out, notes, records.size(), style);
}

// The table as GitHub shows it, for an issue or the summary of a pull request.

std::string plain_markdown(std::string_view raw) {
    static constexpr std::string_view marks = "\\`*[]|~#";
    const auto safe = with_entities(printable(raw), "&<>");
    const auto in_word = [&](std::size_t i) {
        return i < safe.size() && std::isalnum(static_cast<unsigned char>(safe[i])) != 0;
    };
    std::string out;
    for (std::size_t i = 0; i < safe.size(); ++i) {
        const bool underline = safe[i] == '_' && !(in_word(i - 1) && in_word(i + 1));
        if (underline || marks.find(safe[i]) != std::string_view::npos) out += '\\';
        out += safe[i];
    }
    return out;
}

void write_markdown_grid(std::ostream& out, const std::vector<Column>& columns, std::size_t rows) {
    const auto line = [&](const auto& cell) {
        out << "|";
        for (const auto& column : columns) out << ' ' << cell(column) << " |";
        out << '\n';
    };
    line([](const Column& c) { return plain_markdown(c.title); });
    line([](const Column& c) { return std::string(c.right ? "---:" : "---"); });
    for (std::size_t i = 0; i < rows; ++i) line([&](const Column& c) { return plain_markdown(trim(c.cells[i])); });
}

namespace {

/// The columns that fit 110 characters, without the dump folder, which is only on this machine.
std::vector<Column> shown(std::vector<Column> columns) {
    constexpr std::size_t width = 110;
    std::erase_if(columns, [](const Column& c) { return c.key == "dump"; });
    const auto dropped = Grid(columns, width, false).dropped();
    std::erase_if(columns, [&](const Column& c) { return std::ranges::find(dropped, c.key) != dropped.end(); });
    return columns;
}

void write_section(std::ostream& out, const Rows& unordered, const Notes& notes, const MayBeAuto& may_be_auto) {
    const auto comparison = compare(unordered, may_be_auto);
    const auto& rows = comparison.rows;
    const auto varying = varying_axes(rows);
    const auto common = common_text(rows, varying);
    out << "\n**" << plain_markdown(rows.front()->family) << "**" << (common.empty() ? "" : ": ")
        << plain_markdown(common) << "\n\n";
    write_markdown_grid(out, shown(columns_of(comparison, varying, RequestedColumns({}), notes)), rows.size());
    bool first = true;
    for (const auto* row : rows) {
        if (row->status == model::Status::ok) continue;
        out << (first ? "\n" : "") << "- " << plain_markdown(row->id) << ": " << plain_markdown(one_line(row->reason))
            << '\n';
        first = false;
    }
    for (const auto& sentence : sentences_of(comparison)) out << "\n**" << plain_markdown(sentence) << "**\n";
    if (comparison.apart) out << '\n' << plain_markdown(apart_note) << '\n';
}

}  // namespace

void print_markdown(std::ostream& out, const Rows& rows, const std::vector<std::string>& verdicts,
                    const std::string& picture, const MayBeAuto& may_be_auto) {
    const Notes notes(rows);
    for (const auto& verdict : verdicts) out << "**" << plain_markdown(verdict) << "**\n\n";
    if (!picture.empty()) out << "![the kernels, fastest first](<" << picture << ">)\n\n";
    const bool hosts = several_hosts(rows);
    for (const auto& device : grouped(rows, [](const model::Record* r) { return device_key(*r); })) {
        const auto& first = *device.front();
        out << (&first == rows.front() ? "" : "\n") << "### "
            << plain_markdown(first.device.name + device_details(first.device, hosts ? first.host.name : "")) << '\n';
        for (const auto& family : grouped(device, [](const model::Record* r) { return r->family; }))
            write_section(out, family, notes, may_be_auto);
    }
    if (!notes.all().empty()) out << '\n';
    for (std::size_t number = 1; const auto& note : notes.all())
        out << "[" << number++ << "] " << plain_markdown(note.text) << "  \n";
}

}  // namespace cllab::report
