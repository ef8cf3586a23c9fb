#include "app/code/code_gate.hpp"

#include <algorithm>

#include "app/screen/results.hpp"
#include "app/screen/streams.hpp"
#include "core/grouped.hpp"
#include "core/units.hpp"
#include "kernelfile/expression.hpp"
#include "report/table/columns.hpp"

namespace cllab::app {

CodeGate::CodeGate(IsaOptions& invocation) : invocation_(invocation), outputs_(invocation) {
    if (!invocation.save.empty()) outputs_.writes(invocation.save, "--save", Outputs::Kind::whole);
    if (!invocation.sarif.empty()) outputs_.writes(invocation.sarif, "--sarif", Outputs::Kind::whole);
    allowed_ = allowances_of(invocation.allow);
    if (!invocation.expect.empty()) kernelfile::Expression::condition(invocation.expect, {"--expect", 0, 0});
    if (!invocation.against.empty()) before_ = read_figures(invocation.against);
    if (invocation.targets.empty() && invocation.devices.empty())
        for (const auto& kernel : before_) add_once(invocation.targets, kernel.target);
    outputs_.open();
}

bool CodeGate::is_asked() const {
    const auto& i = invocation_;
    return !i.save.empty() || !i.against.empty() || !i.expect.empty() || !i.json.empty();
}

bool CodeGate::prints() const {
    const bool to_stdout = outputs_.json() && outputs_.json()->is_stdout();
    return !to_stdout && !has_page_on_stdout(outputs_) && invocation_.against.empty() && invocation_.expect.empty();
}

int CodeGate::finish(const std::vector<CellCode>& codes, const std::vector<CellCode>& left_out, int failed) {
    CodeReport report;
    report.against = invocation_.against;
    for (const auto* list : {&codes, &left_out})
        for (const auto& code : *list) report.kernels.push_back(figures_of(code));
    const auto saved = report.kernels;
    const bool compared = !before_.empty() || !invocation_.expect.empty();
    if (!before_.empty()) compare_code(report, before_, allowed_);
    if (!invocation_.expect.empty()) expect_of_code(report, invocation_.expect);
    const auto write = [&](const char* option, const std::string& text) {
        if (auto* file = outputs_.file(option)) file->whole(text);
    };
    if (outputs_.file("--save")) write("--save", saved_text(saved));
    if (auto* json = outputs_.json())
        for (const auto& line : json_of(report)) json->line(line);
    if (outputs_.file("--junit")) write("--junit", junit_of(report));
    if (outputs_.file("--sarif")) write("--sarif", sarif_of(report));
    if (outputs_.file("--markdown")) write("--markdown", markdown_of(report));
    if (!compared) return failed;
    if (!(outputs_.json() && outputs_.json()->is_stdout()) && !has_page_on_stdout(outputs_)) print_changes(report);
    const int found = exit_status_of(report);
    // A target that is not here and in no file is an environment that lacks something.
    return found != 0 ? found : failed;
}

void print_by_compiler(const std::vector<CellCode>& codes) {
    using report::Names;
    std::vector<std::string> compilers;
    for (const auto& code : codes) add_once(compilers, code.column);
    std::vector<report::Column> columns{{.title = "kernel", .names = Names::by_itself},
                                        {.title = "target", .names = Names::by_itself},
                                        {.title = "figure"}};
    for (const auto& compiler : compilers) columns.push_back({.title = compiler, .right = true});
    const auto one_cell = [](const CellCode& code) { return std::pair(code.id, code.where); };
    for (const auto& same : grouped(codes, one_cell)) {
        for (const char* name : {"registers", "spills", "loop", "code"}) {
            std::vector<std::string> cells{same.front().id, same.front().where, name};
            std::string before;
            for (const auto& compiler : compilers) {
                const auto code = std::ranges::find(same, compiler, &CellCode::column);
                const auto figures = code == same.end() ? KernelFigures{} : figures_of(*code);
                const auto* figure = figures.figure(name);
                const auto text = figure && figure->value ? format_exact(*figure->value) : "-";
                const bool differs = text != "-" && !before.empty() && text != before;
                cells.push_back(differs ? "* " + text : text);
                if (text != "-") before = text;
            }
            report::add_row(columns, cells);
        }
    }
    report::print_grid(results(), columns, {wants_colour(), page_width(), {}});
    std::vector<std::string> versions;
    for (const auto& code : codes) add_once(versions, code.column + ": " + code.compiler);
    for (const auto& version : versions) results() << report::wrap(version, "", page_width());
}

}  // namespace cllab::app
