// The columns of a family's table, from its records.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "report/table/columns.hpp"
#include "report/table/ranking.hpp"

namespace cllab::report {

/// The cache state of all rows with a time, "hot" without one; empty when they differ.
std::string common_cache(const Rows& rows);

/// All for which a row has something to say, and `varying` axes; `notes_of`: the numbers of a record's warnings.
std::vector<Column> columns_of(const Comparison& comparison, const std::set<std::string>& varying, const Asked& asked,
                               const std::function<std::string(const model::Record&)>& notes_of);

}  // namespace cllab::report
