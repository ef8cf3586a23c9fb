// Prints and writes a comparison of machine code: table, Markdown, JUnit, SARIF.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "app/code/gate.hpp"
#include "app/screen/streams.hpp"
#include "core/grouped.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "core/version.hpp"
#include "json/read.hpp"
#include "report/table/columns.hpp"

namespace cllab::app {
namespace {

using report::Tone;

std::string text_of(const Json& of, const char* key) {
    if (!of.contains(key)) return "-";
    return of[key].is_number() ? format_exact(of[key].get<double>()) : of[key].get<std::string>();
}

/// "1 worse, 2 better, 3 with the same code"
std::string counts_of(const CodeReport& report) {
    std::vector<std::pair<std::string, std::size_t>> counts;
    for (const auto& same : grouped(report.changes, [](const Json& change) { return text_of(change, "verdict"); }))
        counts.emplace_back(text_of(same.front(), "verdict"), same.size());
    if (report.same > 0) counts.emplace_back("with the same code", report.same);
    return counts.empty() ? "every kernel is as expected"
                          : join(counts, ", ", [](auto& one) { return fmt::format("{} {}", one.second, one.first); });
}

/// "tr_cols for gfx900: registers 12, was 8: worse"
std::string sentence_of(const Json& change) {
    auto out = place_of(change) + ": ";
    if (change.contains("figure")) out += text_of(change, "figure") + " ";
    if (change.contains("now")) out += text_of(change, "now") + ", was " + text_of(change, "before") + ": ";
    out += text_of(change, "verdict");
    if (change.contains("reason")) out += "; " + text_of(change, "reason");
    return one_line(change.contains("enough") ? out + "; needed: " + text_of(change, "enough") : out);
}

std::vector<report::Column> columns_of(const CodeReport& report) {
    std::vector<report::Column> columns{{.title = "kernel", .names = report::Names::by_itself},
                                        {.title = "target", .names = report::Names::by_itself}};
    if (std::ranges::any_of(report.changes, [](const auto& change) { return change.contains("column"); }))
        columns.push_back({.title = "column", .names = report::Names::by_itself});
    for (const char* title : {"figure", "before", "now", "verdict"})
        columns.push_back({.title = title, .right = *title == 'b' || *title == 'n'});
    for (const auto& change : report.changes) {
        for (auto& column : columns) column.cells.push_back(text_of(change, column.title.c_str()));
        columns.back().tones.push_back(is_bad(change)                  ? Tone::bad
                                       : change["verdict"] == "better" ? Tone::good
                                                                       : Tone::plain);
    }
    // Conditions have no earlier state to compare with, so their columns are empty.
    std::erase_if(columns, [](const auto& column) {
        return !column.cells.empty() && std::ranges::all_of(column.cells, [](const auto& cell) { return cell == "-"; });
    });
    return columns;
}

/// Sentences below the table.
Strings told_of(const CodeReport& report) {
    Strings out;
    for (const auto& change : report.changes)
        if (change.contains("reason")) out.push_back(sentence_of(change));
    out.insert(out.end(), report.notes.begin(), report.notes.end());
    return out;
}

/// As a code-hosting site expects it: relative to the current folder if the file is below it, else absolute.
std::string uri_of(const std::string& file) {
    const auto path = std::filesystem::absolute(file).lexically_normal();
    const auto relative = path.lexically_relative(std::filesystem::current_path());
    const bool within = !relative.empty() && *relative.begin() != "..";
    std::string out = within ? "" : "file://";
    for (const char c : (within ? relative : path).string())
        out += std::isalnum(static_cast<unsigned char>(c)) || std::string_view("/._-+").find(c) != std::string::npos
                   ? std::string(1, c)
                   : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    return out;
}

}  // namespace

void print_changes(const CodeReport& report) {
    if (!report.changes.empty()) report::print_grid(results(), columns_of(report), {wants_colour(), page_width(), {}});
    for (const auto& sentence : told_of(report)) results() << report::wrap(sentence, "", page_width());
    results() << report::wrap(counts_of(report), "", page_width());
}

std::string markdown_of(const CodeReport& report) {
    std::ostringstream out;
    out << "**" << report::plain_markdown(counts_of(report)) << "**\n\n";
    if (!report.changes.empty()) report::write_markdown_grid(out, columns_of(report), report.changes.size());
    for (const auto& sentence : told_of(report)) out << "\n" << report::plain_markdown(sentence) << '\n';
    return out.str();
}

std::string junit_of(const CodeReport& report) {
    const auto xml = [](std::string_view text) { return report::with_entities(printable(text), "&<>\""); };
    auto cases = report.kernels;
    for (const auto& change : report.changes)
        if (std::ranges::none_of(cases, [&](const auto& one) { return same_place(one, change); }))
            cases.push_back(change);
    std::size_t failures = 0;
    std::string out;
    for (const auto& one : cases) {
        Strings bad, other;
        for (const auto& change : report.changes)
            if (same_place(change, one)) (is_bad(change) ? bad : other).push_back(sentence_of(change));
        failures += !bad.empty();
        out +=
            fmt::format("  <testcase classname=\"{}\" name=\"{}\">", xml(text_of(one, "target")), xml(place_of(one)));
        if (!bad.empty()) out += "<failure message=\"" + xml(join(bad, "; ")) + "\"/>";
        out += "<system-out>" + xml(join(other, "; ")) + "</system-out></testcase>\n";
    }
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"cllab isa\" tests=\"{}\" "
        "failures=\"{}\" errors=\"0\">\n{}</testsuite>\n",
        cases.size(), failures, out);
}

std::string sarif_of(const CodeReport& report) {
    auto results = Json::array(), rules = Json::array();
    for (const auto& change : report.changes) {
        if (change["verdict"] == "new") continue;
        // "loop 2" uses the rule of "loop".
        const auto what = split(text_of(change, change.contains("figure") ? "figure" : "verdict"), ' ');
        const Json rule{{"id", "code/" + what.front()}};
        if (std::ranges::find(rules, rule) == rules.end()) rules.push_back(rule);
        Json result{{"ruleId", rule["id"]},
                    {"level", is_bad(change) ? "error" : "note"},
                    {"message", {{"text", sentence_of(change)}}},
                    {"partialFingerprints", {{"kernel/v1", place_of(change) + text_of(change, "figure")}}}};
        if (change.contains("file")) {
            const Json place{{"artifactLocation", {{"uri", uri_of(change["file"])}}},
                             {"region", {{"startLine", change.value("line", 1)}}}};
            result["locations"] = Json::array({Json{{"physicalLocation", place}}});
        }
        results.push_back(std::move(result));
    }
    const Json driver{{"name", "cllab"}, {"version", version()}, {"rules", rules}};
    const Json run{{"tool", {{"driver", driver}}}, {"results", results}};
    const Json out{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                   {"version", "2.1.0"},
                   {"runs", Json::array({run})}};
    return json_text(out, 1) + "\n";
}

}  // namespace cllab::app
