// The times of cells over many runs: a table of their levels, and the points for a plot.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "model/history.hpp"
#include "report/table/table.hpp"

namespace cllab::report {

/// One line per level of each cell; cells that never changed in one line each, at the end.
void print_history(std::ostream& out, const std::vector<model::History>& histories, const TableStyle& style);

/// One line per cell, `"record": "history"`: points in the order of time, and the levels.
std::vector<std::string> history_json(const std::vector<model::History>& histories);

}  // namespace cllab::report
