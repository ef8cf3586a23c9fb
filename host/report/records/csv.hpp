// Records as CSV (RFC 4180): one line a cell, columns in the order of the fields; the point as "name=value;name=value".
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

/// Printable, and no formula: a spreadsheet computes a field that begins with one of =+-@, and a text may be anybody's.
std::string csv_text(const std::string& raw);
/// Shortest text that reads back as the same number, whatever the locale; empty when there is none.
std::string csv_number(double value);
/// Fields on one line, quoted where they must be.
std::string csv_line(std::vector<std::string> fields);

}  // namespace cllab::report
