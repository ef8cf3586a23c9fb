// `cllab report`: prints the records of many runs and machines as a run does.
#include <ranges>
#include <set>

#include "app/commands/command_file.hpp"
#include "app/files/baseline.hpp"
#include "report/records/csv.hpp"
#include "report/records/joined.hpp"
#include "report/records/points.hpp"
#include "report/table/comparison.hpp"

namespace cllab::app {
namespace {

struct ReportOptions : Call, FileOptions {
    Strings columns;  ///< column names from --columns
    bool by_time = false;
};

constexpr auto needs_records = "a FILE that `cllab run --json` wrote";

/// Reads the files. Prints on stderr what was skipped. Throws Error(usage) if there is no record, so that an empty page
/// cannot pass for a result.
void read(report::Joined& out, const std::vector<std::string>& paths) {
    std::size_t unread = 0;
    std::uint64_t bytes = 0;
    for (const auto& path : paths) {
        std::error_code code;
        if (const auto size = std::filesystem::file_size(path, code); !code) bytes += size;
    }
    out.expect(bytes);
    for (const auto& path : paths) {
        const auto fault = read_record_file(out, path);
        if (fault.empty()) continue;
        ++unread;
        say("file '" + path + "' cannot be read: " + fault);
    }
    for (const auto& trouble : out.troubles()) say(trouble);
    if (const auto more = out.trouble_count() - out.troubles().size(); more > 0)
        say(std::to_string(more) + " more lines are skipped");
    if (unread == paths.size()) throw Error(Blame::usage, "no file can be read");
    if (out.records().empty())
        throw Error(Blame::usage, "no records found in ",
                    paths.size() == 1 ? "'" + paths.front() + "'" : std::to_string(paths.size()) + " files",
                    "; expected " + std::string(needs_records));
}

int report_records(const ReportOptions& invocation) {
    Outputs outputs(invocation);
    for (const auto& path : invocation.patterns) outputs.reads(path);
    report::Joined joined(invocation.html.empty() && invocation.long_csv.empty() ? report::Keep::page
                                                                                 : report::Keep::all);
    read(joined, invocation.patterns);
    const auto& records = joined.records();
    if (!invocation.columns.empty()) {
        std::set<std::string> names;
        for (const auto& record : records) {
            for (const auto& [axis, value] : record.point) names.insert(axis);
            for (const auto& [metric, value] : record.metrics) names.insert(metric);
        }
        require_columns(invocation.columns, names);
    }
    const bool hosts = report::several_hosts(records);
    std::vector<portrait::Conclusion> curves;
    const auto pointers = records | std::views::transform([](const auto& record) { return &record; });
    for (const auto& rows : grouped(pointers, [](const auto* record) { return model::device_key(*record); })) {
        const auto& first = *rows.front();
        const auto name =
            first.device.name + " (" + first.device.selector + ")" + (hosts ? " on " + first.host.name : "");
        for (auto& conclusion : portrait::curves_of_device(rows, name)) curves.push_back(std::move(conclusion));
    }
    if (!invocation.html.empty()) require_page(records.size());
    if (!invocation.png.empty()) require_rasterizer();
    outputs.open();
    if (auto* csv = outputs.csv()) {
        if (!csv->has_content()) csv->line(report::csv_header());
        for (const auto& record : records) csv->line(report::to_csv_line(record));
    }
    std::vector<std::string> verdicts;
    for (const auto& line : joined.comparisons())
        if (auto verdict = report::comparison_verdict(line)) verdicts.push_back(std::move(*verdict));
    write_pages(outputs, invocation, records, curves, verdicts, joined.comparisons());
    bool printed = (outputs.csv() && outputs.csv()->is_stdout()) || has_page_on_stdout(outputs);
    if (auto* file = outputs.file("--long")) {
        report::write_long_csv(records, [&](const std::string& lines) { file->line(lines); });
        printed = printed || file->is_stdout();
    }
    if (!printed) print_page(records, curves, {}, true, invocation.columns, invocation.by_time);
    return 0;
}

}  // namespace

report::Joined read_records(const Strings& paths) {
    report::Joined joined;
    for (const auto& path : paths)
        if (const auto fault = read_record_file(joined, path); !fault.empty())
            throw Error(Blame::usage, "file '", path, "' cannot be read: ", fault);
    for (const auto& trouble : joined.troubles()) say(trouble);
    return joined;
}

Command report_command() {
    Rows<ReportOptions> rows;
    rows.text("csv", "OUT", &ReportOptions::csv).text("html", "OUT", &ReportOptions::html);
    rows.with(excerpt_rows())
        .text("long", "OUT", &ReportOptions::long_csv)
        .columns(&ReportOptions::columns, about_columns())
        .flag("sort", &ReportOptions::by_time)
        .with(replace_rows("--csv"));
    return make_command<ReportOptions>(
        manual_of("report"), rows, [](ReportOptions& options) { need_pattern(options, needs_records); },
        report_records);
}

}  // namespace cllab::app
