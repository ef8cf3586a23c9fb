// `cllab regress`: compares with a baseline. The exit status tells whether something is slower.
#include "app/comparing/regress.hpp"

#include "app/commands/command_file.hpp"
#include "report/table/regression.hpp"

namespace cllab::app {
namespace {

using model::CellChange;

/// Priority: a failing cell, a slower cell, a cell without a verdict.
int exit_status_of(const std::vector<model::RegressionCell>& cells, const RegressOptions& options) {
    const auto any = [&](std::initializer_list<CellChange> changes) {
        return std::ranges::any_of(
            cells, [&](const auto& c) { return std::ranges::find(changes, c.change) != changes.end(); });
    };
    if (any({CellChange::newly_wrong, CellChange::newly_failing, CellChange::still_failing})) return 1;
    const auto leans = [&](model::Lean lean) {
        return std::ranges::any_of(cells, [&](const auto& c) { return c.lean == lean; });
    };
    if (any({CellChange::slower, CellChange::other_results}) || leans(model::Lean::all_slower)) return 4;
    if (any({CellChange::incomparable, CellChange::vanished}) || leans(model::Lean::middle_slower)) return 5;
    return options.strict && any({CellChange::undecided}) ? 5 : 0;
}

int run_regress(const RegressOptions& invocation) {
    const Timings timings;
    Outputs outputs(invocation);
    const report::TableStyle style{wants_colour(), page_width(), invocation.columns};
    report::require_known_columns(invocation.columns, report::columns_of_command("regress"));
    catch_interrupts();
    const auto runner = in_child_processes(invocation.timeout_seconds);
    const auto result = regress(
        invocation, *runner, [&] { outputs.open(); }, say_doing);
    say_doing("");
    const auto& regression = result.regression;
    auto* json = outputs.json();
    if (json)
        for (const auto& line : report::regression_json(regression)) json->line(line);
    if (auto* junit = outputs.file("--junit")) {
        junit->begin(false);
        junit->line(report::regression_junit(regression));
    }
    if (auto* markdown = outputs.file("--markdown")) {
        std::ostringstream out;
        report::print_regression_markdown(out, regression);
        markdown->whole(out.str());
    }
    if (!(json && json->is_stdout()) && !has_page_on_stdout(outputs))
        report::print_regression(results(), regression, style);
    results().flush();
    if (invocation.timings) timings.print(result.of_cells);
    if (!result.lost.empty()) throw Error(Blame::environment, result.lost);
    if (result.interrupted) {
        say("interrupted; cells that were not reached are undecided");
        return 130;
    }
    return exit_status_of(regression.cells, invocation);
}

void check_regress(RegressOptions& options) {
    need_pattern(options, "the folder that `cllab run ... --baseline DIR` wrote");
}

Rows<RegressOptions> regress_rows() {
    Rows<RegressOptions> rows;
    rows.list("device,d", "D", &RegressOptions::devices)
        .add({"threshold", "PERCENT", "", "2"},
             [](RegressOptions& to, const std::string& text) {
                 to.threshold = number_of("threshold", text, {0, 100, "per cent from 0 to 100"}) / 100;
             })
        .flag("strict", &RegressOptions::strict)
        .flag("results-may-change", &RegressOptions::results_may_change)
        .flag("allow-new-compiler", &RegressOptions::allow_new_compiler)
        .flag("recorded", &RegressOptions::recorded)
        .number("max-time", "SECONDS", any_seconds, &RegressOptions::comparison_seconds, "10")
        .text("cl-dir", "DIR", &RegressOptions::cl_dir)
        .text("build-options", "TEXT", &RegressOptions::build_options)
        .text("json", "FILE", &RegressOptions::json)
        .columns(&RegressOptions::columns, about_columns(report::columns_of_command("regress")))
        .text("junit", "FILE", &RegressOptions::junit)
        .text("markdown", "OUT", &RegressOptions::markdown)
        .number("timeout", "SECONDS", any_seconds, &RegressOptions::timeout_seconds, "60")
        .seed()
        .with(timings_rows())
        .with(replace_rows("--json"));
    return rows;
}

}  // namespace

Command regress_command() {
    return make_command<RegressOptions>(manual_of("regress"), regress_rows(), check_regress, run_regress);
}

}  // namespace cllab::app
