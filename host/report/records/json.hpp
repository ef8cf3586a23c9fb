// Records as JSON, one line per cell. Writes schema version 2. Also reads version 1, which has no "run".
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/counts.hpp"
#include "model/result.hpp"

namespace cllab::report {

/// One line, no newline at the end. Non-finite numbers are never written: the key is omitted.
std::string to_json_line(const model::Record& record);
/// The same, indented, for timing.json.
std::string to_json_pretty(const model::Record& record);
/// Throws Error(usage) for text that is not a record of a schema this build knows, and for a record that is
/// impossible().
model::Record from_json(std::string_view line);

/// {"record": "counts", ...}: the fields of model/count_fields.hpp, and the main amounts as figures.
std::string counts_json(const model::Counts& counts);

/// {"record": "counters", id, point, device, opencl_seconds, cuda_seconds, "counters": {name: {value, unit}}}
std::string counters_json(const model::Counted& counted);

/// Why no run can have measured the record, in words after "this record cannot be: "; nullopt if one can.
/// `has_samples`: the record has its samples, which a shortened record lacks. They must agree with its time.
std::optional<std::string> impossible(const model::Record& record, bool has_samples);

// A cell's point and device in JSON, the same in every kind of line, so that lines are joined by their values.

/// A value is a number if the number is written back as the same text, else text ("64x4", "linear").
nlohmann::ordered_json point_json(const std::vector<std::pair<std::string, std::string>>& point);

/// The device, for a line that is not a cell's record.
nlohmann::ordered_json device_json(const model::DeviceInfo& device);

// The common parts of the objects that commands write for programs (`cllab help json`).

/// {"schema", "record"}: the beginning of an object that is not a cell's record.
nlohmann::ordered_json fact(const char* record);
/// Adds to "figures": {name: {"value", "unit", "from"}}. "from" says how the value was obtained.
void add_figure(nlohmann::ordered_json& to, const std::string& name, const nlohmann::ordered_json& value,
                const std::string& unit, const std::string& from);
/// Marks an object or a figure as without answer: "refused", a code; "reason", what was seen; "enough", what would
/// suffice.
void add_refusal(nlohmann::ordered_json& to, const std::string& code, const std::string& seen,
                 const std::string& enough);

/// The beginning of a line that is about one cell and is not its record.
nlohmann::ordered_json line_of(const char* record, const std::string& id,
                               const std::vector<std::pair<std::string, std::string>>& point,
                               const model::DeviceInfo& device);

/// The object on one line. Invalid UTF-8 becomes U+FFFD, never an exception.
std::string line_text(const nlohmann::ordered_json& json);

}  // namespace cllab::report
