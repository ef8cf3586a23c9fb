// The table as GitHub shows it, for an issue or the summary of a pull request.
#include <algorithm>
#include <cctype>
#include <ostream>

#include "core/grouped.hpp"
#include "core/text.hpp"
#include "report/records/points.hpp"
#include "report/table/columns.hpp"
#include "report/table/layout.hpp"
#include "report/table/table.hpp"

namespace cllab::report {
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

/// The columns that a terminal of this width would have, without what is of this machine only.
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
    write_markdown_grid(out, shown(columns_of(comparison, varying, Asked({}), notes)), rows.size());
    bool first = true;
    for (const auto* row : rows) {
        if (row->status == model::Status::ok) continue;
        out << (first ? "\n" : "") << "- " << plain_markdown(row->id) << ": " << plain_markdown(one_line(row->reason))
            << '\n';
        first = false;
    }
    for (const auto& sentence : ranking_notes(comparison)) out << '\n' << plain_markdown(sentence) << '\n';
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
