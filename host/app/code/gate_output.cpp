// A comparison of machine code as pages and files.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "app/code/gate.hpp"
#include "app/screen/streams.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "core/version.hpp"
#include "report/table/columns.hpp"

namespace cllab::app {
namespace {

using nlohmann::ordered_json;
using report::Tone;

bool is_bad(CodeVerdict verdict) { return verdict < CodeVerdict::other; }

/// "1 worse, 2 better"
std::string counts_of(const CodeReport& report) {
    std::vector<std::string> parts;
    for (auto v = CodeVerdict::failed; v <= CodeVerdict::added; v = static_cast<CodeVerdict>(static_cast<int>(v) + 1))
        if (const auto n = std::ranges::count(report.changes, v, &CodeChange::verdict))
            parts.push_back(std::to_string(n) + " " + name(v));
    if (!report.against.empty()) parts.push_back(report::counted(report.same, "kernel") + " with the same code");
    return parts.empty() ? "every kernel is as expected" : join(parts, ", ");
}

/// "tr_cols for gfx900: registers 12, were 8: worse"
std::string sentence_of(const CodeChange& change) {
    std::string out = change.kernel.place() + ": ";
    if (!change.figure.empty()) out += change.figure + " ";
    if (!change.now.empty()) out += change.now + ", was " + change.before + ": ";
    return out + name(change.verdict) + (change.why.empty() ? "" : "; " + change.why);
}

/// "+12", "+4.5 %": how much more.
std::string difference_of(const CodeChange& change) {
    const auto before = parse_real(change.before), now = parse_real(change.now);
    if (!before || !now) return "-";
    const double more = *now - *before;
    return fmt::format("{:+g}", more) + (*before > 0 ? fmt::format(" ({:+.1f} %)", 100 * more / *before) : "");
}

std::vector<report::Column> change_columns(const CodeReport& report) {
    using report::Names;
    const bool by_compilers =
        std::ranges::any_of(report.changes, [](const auto& change) { return !change.kernel.column.empty(); });
    std::vector<report::Column> columns{{.title = "kernel", .names = Names::by_itself},
                                        {.title = "target", .names = Names::by_itself}};
    if (by_compilers) columns.push_back({.title = "compiler", .names = Names::by_itself});
    columns.insert(columns.end(), {{.title = "figure"},
                                   {.title = "before", .right = true},
                                   {.title = "now", .right = true},
                                   {.title = "change", .right = true, .keep = 80},
                                   {.title = "verdict"}});
    for (const auto& c : report.changes) {
        const auto or_dash = [](const std::string& text) { return text.empty() ? "-" : text; };
        std::vector<std::string> cells{c.kernel.kernel, c.kernel.target};
        if (by_compilers) cells.push_back(c.kernel.column);
        for (const auto& text : {c.figure, c.before, c.now}) cells.push_back(or_dash(text));
        cells.insert(cells.end(), {difference_of(c), name(c.verdict)});
        report::add_row(columns, cells);
        columns.back().tones.push_back(is_bad(c.verdict)                    ? Tone::bad
                                       : c.verdict == CodeVerdict::better ? Tone::good
                                                                          : Tone::plain);
    }
    return columns;
}

std::string xml(std::string_view text) { return report::with_entities(printable(text), "&<>\""); }

/// As a forge wants it: relative to the folder that the command ran in, where that has the file.
std::string uri_of(const std::string& file) {
    const auto path = std::filesystem::absolute(file).lexically_normal();
    const auto relative = path.lexically_relative(std::filesystem::current_path());
    const bool within = !relative.empty() && *relative.begin() != "..";
    std::string out = within ? "" : "file://";
    for (const unsigned char c : (within ? relative : path).string())
        out += c > 0x20 && c < 0x7f && std::string_view("%\"<>\\^`{|}?#").find(static_cast<char>(c)) == std::string::npos
                   ? std::string(1, static_cast<char>(c))
                   : fmt::format("%{:02X}", c);
    return out;
}

std::string rule_of(const CodeChange& change) {
    std::string what = change.figure.empty() ? name(change.verdict) : change.figure.substr(0, change.figure.find(' '));
    std::ranges::replace(what, ' ', '-');
    return "code/" + what;
}

}  // namespace

std::string markdown_of(const CodeReport& report) {
    std::ostringstream out;
    out << "**" << report::plain_markdown(counts_of(report)) << "**\n";
    if (!report.changes.empty()) {
        out << '\n';
        report::write_markdown_grid(out, change_columns(report), report.changes.size());
    }
    for (const auto& change : report.changes)
        if (!change.why.empty()) out << "\n" << report::plain_markdown(one_line(sentence_of(change))) << '\n';
    for (const auto& note : report.notes) out << "\n" << report::plain_markdown(one_line(note)) << '\n';
    return out.str();
}

std::string junit_of(const CodeReport& report) {
    std::size_t failures = 0, errors = 0;
    std::string cases;
    const auto add = [&](const KernelFigures& kernel) {
        std::string said;
        bool failed = false, broken = false;
        for (const auto& change : report.changes) {
            if (!change.kernel.is_same(kernel)) continue;
            said += (said.empty() ? "" : "; ") + sentence_of(change);
            failed = failed || is_bad(change.verdict);
            broken = broken || change.verdict == CodeVerdict::failed;
        }
        if (said.empty() && kernel.status != "ok") said = kernel.status + ": " + kernel.reason;
        broken = broken || kernel.status == "build_failed";
        failures += failed && !broken, errors += broken;
        const auto* element = broken ? "error" : failed ? "failure" : kernel.status != "ok" ? "skipped" : "";
        const auto classname = kernel.target + (kernel.column.empty() ? "" : " by " + kernel.column);
        cases += fmt::format("  <testcase classname=\"{}\" name=\"{}\">", xml(classname), xml(kernel.kernel));
        cases += *element ? fmt::format("<{} message=\"{}\"/>", element, xml(said))
                          : "<system-out>" + xml(said) + "</system-out>";
        cases += "</testcase>\n";
    };
    std::size_t tests = 0;
    for (const auto& kernel : report.kernels)
        if (!kernel.kernel.empty()) add(kernel), ++tests;
    for (const auto& change : report.changes)
        if (change.verdict == CodeVerdict::missing &&
            std::ranges::none_of(report.kernels, [&](const auto& k) { return k.is_same(change.kernel); }))
            add(change.kernel), ++tests;
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"cllab isa {}\" tests=\"{}\" failures=\"{}\" "
        "errors=\"{}\">\n{}</testsuite>\n",
        xml(report.against), tests, failures, errors, cases);
}

std::string sarif_of(const CodeReport& report) {
    auto results = ordered_json::array(), rules = ordered_json::array();
    std::set<std::string> known;
    const auto add = [&](const std::string& rule, const char* level, const std::string& text,
                         const KernelFigures& kernel) {
        if (known.insert(rule).second)
            rules.push_back({{"id", rule}, {"shortDescription", {{"text", "machine code: " + rule.substr(5)}}}});
        ordered_json result{{"ruleId", rule}, {"level", level}, {"message", {{"text", one_line(text)}}}};
        // What tells it apart from another one of the same line, run after run.
        result["partialFingerprints"] = {{"kernel/v1", kernel.place()}};
        if (!kernel.file.empty()) {
            ordered_json place{{"artifactLocation", {{"uri", uri_of(kernel.file)}}}};
            place["region"] = {{"startLine", std::max<std::uint64_t>(kernel.line, 1)}};
            result["locations"] = {{{"physicalLocation", place}}};
        }
        results.push_back(std::move(result));
    };
    for (const auto& change : report.changes)
        if (change.verdict != CodeVerdict::added)
            add(rule_of(change), is_bad(change.verdict) ? "error" : "note", sentence_of(change), change.kernel);
    for (const auto& kernel : report.kernels)
        if (kernel.status == "build_failed" && std::ranges::none_of(report.changes, [&](const auto& change) {
                return change.kernel.is_same(kernel);
            }))
            add("code/failed", "error", kernel.place() + ": " + kernel.reason, kernel);
    ordered_json driver{{"name", "cllab"}, {"version", version()}, {"rules", rules}};
    ordered_json out{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}};
    ordered_json run{{"tool", {{"driver", driver}}}, {"results", results}};
    out["runs"] = ordered_json::array({run});
    return out.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::vector<std::string> json_of(const CodeReport& report) {
    std::vector<std::string> out;
    const auto put = [&](const ordered_json& line) {
        out.push_back(line.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
    };
    const auto changes_of = [&](const KernelFigures& kernel) {
        auto changes = ordered_json::array();
        for (const auto& c : report.changes) {
            if (!c.kernel.is_same(kernel)) continue;
            ordered_json change{{"verdict", name(c.verdict)}};
            for (const auto& [key, text] : {std::pair("figure", c.figure), {"before", c.before}, {"now", c.now},
                                            {"reason", c.why}})
                if (!text.empty()) change[key] = text;
            changes.push_back(std::move(change));
        }
        return changes;
    };
    const bool compared = !report.against.empty() || !report.expected.empty();
    for (const auto& kernel : report.kernels) {
        auto line = to_json(kernel);
        if (compared) line["changes"] = changes_of(kernel);
        put(line);
    }
    if (!compared) return out;
    ordered_json whole{{"schema", 1}, {"record", "code comparison"}, {"exit_status", exit_status_of(report)}};
    if (!report.against.empty()) whole["against"] = report.against, whole["same"] = report.same;
    if (!report.expected.empty()) whole["expected"] = report.expected;
    whole["missing"] = ordered_json::array();
    for (const auto& c : report.changes)
        if (c.verdict == CodeVerdict::missing) whole["missing"].push_back({{"kernel", c.kernel.kernel},
                                                                          {"target", c.kernel.target},
                                                                          {"reason", c.why}});
    whole["notes"] = report.notes;
    put(whole);
    return out;
}

void print_changes(const CodeReport& report) {
    if (!report.changes.empty()) report::print_grid(results(), change_columns(report), {wants_colour(), page_width(), {}});
    std::vector<std::string> said;
    for (const auto& change : report.changes)
        if (!change.why.empty()) said.push_back(sentence_of(change));
    said.insert(said.end(), report.notes.begin(), report.notes.end());
    for (const auto& sentence : said) results() << report::wrap(one_line(sentence), "", page_width());
    results() << report::wrap(counts_of(report), "", page_width());
}

}  // namespace cllab::app
