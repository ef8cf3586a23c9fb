// Records as CSV (RFC 4180): one line per cell, columns in the order of the fields; the point is
// "name=value;name=value".
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/result.hpp"

namespace cllab::report {

std::string csv_header();
std::string to_csv_line(const model::Record& record);

/// Takes the next lines of a file, without the last newline.
using Lines = std::function<void(const std::string&)>;
/// CSV with a row for each sample and a column for each axis, point_<axis>. Cells without samples have no row.
void write_long_csv(const std::vector<model::Record>& records, const Lines& out);

}  // namespace cllab::report
