// What launches execute, for people.
#pragma once

#include <iosfwd>
#include <vector>

#include "model/counts.hpp"
#include "report/table/table.hpp"

namespace cllab::report {

/// A table with a column for each, so that what differs is seen at once; below it the costliest lines of each and what
/// was not counted.
void print_counts(std::ostream& out, const std::vector<model::Counts>& all, const TableStyle& style);

}  // namespace cllab::report
