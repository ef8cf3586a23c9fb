// What became of the cells since a baseline: a table, JSON lines, and JUnit XML for a CI system. The times of cells
// over many runs: a table of their levels, and the points for a plot.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "model/history.hpp"
#include "model/regression.hpp"
#include "report/table/table.hpp"

namespace cllab::report {

/// The cells, worst first, with what their claims are worth; then the shift they share, and how many became what.
void print_regression(std::ostream& out, const model::Regression& regression, const TableStyle& style);

/// The same as Markdown, for the summary of a pull request; cells with the same code are folded.
void print_regression_markdown(std::ostream& out, const model::Regression& regression);

/// One line per cell and one for the whole, `"record": "regression"`; readers of records keep and skip them.
std::vector<std::string> regression_json(const model::Regression& regression);

/// One test suite with a test case per cell: slower is a failure; wrong and failing an error; undecided and not there
/// skipped.
std::string regression_junit(const model::Regression& regression);

/// When a level began, and the label of its first run.
std::string since(const model::History& history, std::size_t level);

/// "+3.1 %" of a level against the one before.
std::string change_of(const model::History& history, std::size_t level);

/// Those that changed their level, then the others; `changed`: how many did.
std::vector<const model::History*> changed_first(const std::vector<model::History>& histories, std::size_t& changed);

/// One line per level of each cell; cells that never changed in one line each, at the end.
void print_history(std::ostream& out, const std::vector<model::History>& histories, const TableStyle& style);

/// One line per cell, `"record": "history"`: points in the order of time, and the levels.
std::vector<std::string> history_json(const std::vector<model::History>& histories);

}  // namespace cllab::report
