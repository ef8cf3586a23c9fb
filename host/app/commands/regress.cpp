// `cllab regress`: slower than before? An exit status says so.
#include "app/comparing/regress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "app/commands.hpp"
#include "app/files/histories.hpp"
#include "app/files/outputs.hpp"
#include "app/screen/say.hpp"
#include "app/screen/stdout_guard.hpp"
#include "app/screen/streams.hpp"
#include "core/text.hpp"
#include "report/records/joined.hpp"
#include "report/table/columns.hpp"
#include "report/table/history.hpp"
#include "report/table/regression.hpp"

namespace cllab::app {
namespace {

using model::CellChange;

/// A failing cell goes before a slower one, and that before one that nobody can judge.
int exit_status_of(const std::vector<model::RegressionCell>& cells, bool strict) {
    const auto any = [&](std::initializer_list<CellChange> changes) {
        return std::any_of(cells.begin(), cells.end(), [&](const auto& c) {
            return std::find(changes.begin(), changes.end(), c.change) != changes.end();
        });
    };
    if (any({CellChange::newly_wrong, CellChange::newly_failing, CellChange::still_failing})) return 1;
    if (any({CellChange::slower, CellChange::other_results})) return 4;
    if (any({CellChange::incomparable, CellChange::vanished})) return 5;
    return strict && any({CellChange::undecided}) ? 5 : 0;
}

int command_history(const Invocation& invocation, Outputs& outputs, const report::TableStyle& style) {
    report::Joined joined;
    for (const auto& path : invocation.patterns) {
        std::ifstream in(path, std::ios::binary);
        if (in) joined.read(in, path);
        if (!in.eof() || in.bad()) throw Error(Blame::usage, "file '" + path + "' cannot be read");
    }
    for (const auto& trouble : joined.troubles()) say(trouble);
    const auto found = histories(joined.records());
    if (found.empty()) throw Error(Blame::usage, "no record with a time is in the files");
    outputs.open();
    if (auto* json = outputs.json())
        for (const auto& line : report::history_json(found)) json->line(line);
    if (!outputs.json() || !outputs.json()->is_stdout()) report::print_history(results(), found, style);
    return 0;
}

}  // namespace

int command_regress(const Invocation& invocation) {
    Outputs outputs(invocation);
    const report::TableStyle style{wants_colour(STDOUT_FILENO), page_width(STDOUT_FILENO), invocation.columns};
    report::require_known_columns(invocation.columns, report::columns_of_command("regress"));
    if (invocation.history) return command_history(invocation, outputs, style);
    catch_interrupts();
    const bool terminal = takes_escapes(STDERR_FILENO);
    const auto clear = [&] {
        if (terminal) std::fputs("\r\033[K", stderr);
    };
    const auto runner = in_child_processes(invocation.timeout_seconds);
    const auto result = regress(
        invocation, *runner, [&] { outputs.open(); },
        [&](const std::string& doing) {
            if (!terminal) return;
            std::fprintf(stderr, "\r\033[K%s", printable(doing).c_str());
            std::fflush(stderr);
        });
    clear();
    const auto& regression = result.regression;
    auto* json = outputs.json();
    if (json)
        for (const auto& line : report::regression_json(regression)) json->line(line);
    if (auto* junit = outputs.file("--junit")) {
        junit->begin(false);
        junit->line(report::regression_junit(regression));
    }
    if (!json || !json->is_stdout()) report::print_regression(results(), regression, style);
    results().flush();
    if (!result.lost.empty()) throw Error(Blame::environment, result.lost);
    if (result.interrupted) {
        say("interrupted; cells that were not reached are undecided");
        return 130;
    }
    return invocation.calibrate ? 0 : exit_status_of(regression.cells, invocation.strict);
}

}  // namespace cllab::app
