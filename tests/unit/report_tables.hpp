// Records at a point, and the table that is printed of them.
#pragma once

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "report/table/table.hpp"
#include "unit/report_records.hpp"

namespace cllab::test {

inline std::string table(const std::vector<model::Record>& records, report::TableStyle style = {}) {
    std::ostringstream out;
    report::print_table(out, model::rows_of(records), style);
    return out.str();
}

inline model::Record at(model::Record r, std::vector<std::pair<std::string, std::string>> point) {
    r.point = std::move(point);
    return r;
}

}  // namespace cllab::test
