// What became of the cells since a baseline: a table, JSON lines, and JUnit XML for a CI system.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "model/comparison.hpp"
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

}  // namespace cllab::report
