// Records as JSON, schema version 1: one line a cell.
#pragma once

#include <string>
#include <string_view>

#include "model/result.hpp"

namespace cllab::report {

/// One line, no newline at the end. Non-finite numbers are never written: the key is left out.
std::string to_json_line(const model::Record& record);
/// The same, indented, for timing.json.
std::string to_json_pretty(const model::Record& record);
/// Throws Error(usage) for text that is not a record of a schema this build knows.
model::Record from_json(std::string_view line);

}  // namespace cllab::report
