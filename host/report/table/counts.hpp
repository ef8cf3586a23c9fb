// What launches execute, for people and as JSON.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "model/counts.hpp"
#include "report/table/table.hpp"

namespace cllab::report {

/// A table with a column for each, so that what differs is seen at once; below it the costliest lines of each and what
/// was not counted.
void print_counts(std::ostream& out, const std::vector<model::Counts>& all, const TableStyle& style);

/// {"record": "counts", ...}: the fields of model/count_fields.hpp, as tools/counts.schema.json says.
std::string counts_json(const model::Counts& counts);

}  // namespace cllab::report
