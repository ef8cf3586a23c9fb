// Records as CSV (RFC 4180): fixed leading columns, one line a cell; the point as "name=value;name=value".
#pragma once

#include <string>

#include "model/result.hpp"

namespace cllab::report {

std::string csv_header();
std::string to_csv_line(const model::Record& record);

}  // namespace cllab::report
