// `cllab regress`: slower than before? An exit status says so.
#include "app/comparing/regress.hpp"

#include <algorithm>
#include <sstream>

#include "app/commandline/groups.hpp"
#include "app/commands.hpp"
#include "app/files/outputs.hpp"
#include "app/screen/results.hpp"
#include "app/screen/streams.hpp"
#include "app/screen/timings.hpp"
#include "core/text.hpp"
#include "report/table/columns.hpp"
#include "report/table/regression.hpp"

namespace cllab::app {
namespace {

using model::CellChange;

/// A failing cell goes before a slower one, and that before one without a verdict.
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
    rows.list("device,d", "D", &RegressOptions::devices,
              "Runs both sides on this device. It must have the baseline's platform and type. Default: the baseline's "
              "own.")
        .add({"threshold", "PERCENT", "Calls a cell slower when the whole interval is above PERCENT.", "2"},
             [](RegressOptions& to, const std::string& text) {
                 to.threshold = number_of("threshold", text, {0, 100, "per cent from 0 to 100"}) / 100;
             })
        .flag("strict", &RegressOptions::strict, "Exits with status 5 when a cell is undecided and none is slower.")
        .flag("results-may-change", &RegressOptions::results_may_change,
              "Times cells whose results differ from the baseline's instead of exiting with status 4. Each side must "
              "still be right by its own reference or file.")
        .flag("allow-new-compiler", &RegressOptions::allow_new_compiler,
              "Exits with 0 for a cell whose text is the baseline's and whose machine code is not (`other code`): the "
              "driver, its compiler or the processor changed. Its two times stand in the columns recorded and today.")
        .flag("recorded", &RegressOptions::recorded,
              "Compares with the stored times instead of building the stored text again, for two machines or two "
              "drivers. The claim is weaker: the difference includes everything else that changed between the runs. "
              "Needs several runs in the baseline (--append).")
        .number("max-time", "SECONDS", any_seconds, &RegressOptions::comparison_seconds, "10",
                "Tests each cell after at most SECONDS of arrangements. Takes up to four times that when an interval "
                "needs more.")
        .text("cl-dir", "DIR", &RegressOptions::cl_dir,
              "Reads today's text from DIR/<family>.cl. Default: where the baseline's command line reads it from.")
        .text("build-options", "TEXT", &RegressOptions::build_options,
              "Appends TEXT to the build options of today's side. Default: as in the baseline's command line.")
        .text("json", "FILE", &RegressOptions::json, "Writes one JSON line per cell and one for the whole.")
        .columns(&RegressOptions::columns, about_columns(report::columns_of_command("regress")))
        .text("junit", "FILE", &RegressOptions::junit,
              "Writes JUnit XML: slower is a failure, wrong or failing an error.")
        .text(
            "markdown", "OUT", &RegressOptions::markdown,
            "Also writes the cells to OUT as Markdown, for the summary of a pull request: worst first, those with the "
            "same code folded. - is standard output, instead of the table.")
        .number("timeout", "SECONDS", any_seconds, &RegressOptions::timeout_seconds, "60",
                "Ends a cell that makes no progress for SECONDS.")
        .seed("Seeds inputs, orders and placements. Default: a fresh seed per run.")
        .with(timings_rows())
        .with(replace_rows("--json"));
    return rows;
}

}  // namespace

Command regress_command() {
    return make_command<RegressOptions>(
        {"regress", "BASE [PATTERN...]", "slower than a baseline? the exit status tells",
         "cllab regress BASE [PATTERN...] [options]",
         "Compares today's kernels with a baseline of `cllab run ... --baseline BASE`. cllab builds the baseline's "
         "text again, and both texts take turns on the same memory. A new driver, clock or load therefore affects both "
         "sides alike. Exit status 4: a cell is slower.\n\nThe comparison uses arrangements, as `cllab run --vs` does. "
         "A cell with the same machine code cannot fail and is not timed. PATTERN selects among the cells.\n\nEach "
         "cell is tested after at most --max-time. Undecided cells get up to two further rounds, using time the other "
         "cells did not need. No cell takes more than 12 times --max-time, and the average is at most about "
         "--max-time.\n\nAll cells together give a false alarm in at most 1 % of the runs (Holm's correction). The "
         "first test spends half of that, the others a quarter each. The intervals hold simultaneously.\n\nExit "
         "status, the first that applies. 1: a cell is wrong or fails, in any process. 4: a cell is slower, or gives "
         "other results than the baseline's text (--results-may-change allows that), or is "
         "undecided while each of its ratios is beyond the threshold. 5: a cell of the baseline is missing or cannot "
         "be "
         "compared. 5 also: a cell has other machine code for the same text (--allow-new-compiler allows that). 5 "
         "also: a "
         "cell is undecided while the middle of its ratios is beyond the threshold; with --strict, any undecided cell. "
         "0: otherwise. 2: also a damaged "
         "baseline. 3: as for every command.",
         "cllab regress base --threshold 3 --junit regress.xml\n  cell     change        time  interval           "
         "control  arrangements\n  tr_cols  slower     +14.1 %  +9.8 % to +62.1 %   -0.2 %            13\n  tr_rows  "
         "same code        -  -                        -             -"},
        regress_rows(), check_regress, run_regress);
}

}  // namespace cllab::app
