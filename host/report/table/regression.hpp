// How cells changed since a baseline: a table, JSON lines, and JUnit XML for a CI system.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "model/comparison.hpp"
#include "report/table/table.hpp"

namespace cllab::report {

/// How reliable the verdicts are, and the cells, worst first. Then the shift common to all cells, and the number of
/// cells per change.
void print_regression(std::ostream& out, const model::Regression& regression, const TableStyle& style);

/// The same as Markdown, for the summary of a pull request; cells with the same code are folded.
void print_regression_markdown(std::ostream& out, const model::Regression& regression);

/// One line per cell and one for the whole, `"record": "regression"`; readers of records keep them unparsed.
std::vector<std::string> regression_json(const model::Regression& regression);

/// One test suite with a test case per cell. Failures: slower, leaning to slower, other results, incomparable,
/// vanished. Errors: wrong or failing. Skipped: undecided, added, unsupported.
std::string regression_junit(const model::Regression& regression);

}  // namespace cllab::report
