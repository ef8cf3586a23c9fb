// Records as JSON, one line per cell. Written by schema version 2; version 1, which has no "run", is read too.
#pragma once

#include <string>
#include <string_view>

#include "model/counts.hpp"
#include "model/result.hpp"

namespace cllab::report {

/// One line, no newline at the end. Non-finite numbers are never written: the key is left out.
std::string to_json_line(const model::Record& record);
/// The same, indented, for timing.json.
std::string to_json_pretty(const model::Record& record);
/// Throws Error(usage) for text that is not a record of a schema this build knows, and for a record that cannot be
/// (impossible.hpp).
model::Record from_json(std::string_view line);

/// {"record": "counts", ...}: the fields of model/count_fields.hpp, as tools/counts.schema.json says.
std::string counts_json(const model::Counts& counts);

}  // namespace cllab::report
