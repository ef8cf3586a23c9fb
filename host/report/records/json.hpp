// Records as JSON, one line per cell. Written by schema version 2; version 1, which has no "run", is read too.
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

/// One line, no newline at the end. Non-finite numbers are never written: the key is left out.
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

/// Why the record cannot be, whatever it says, in words that follow "this record cannot be: "; nothing when it can.
/// `has_samples`: the record states its samples (a shortened one may leave them out), so that they must agree with its
/// time.
std::optional<std::string> impossible(const model::Record& record, bool has_samples);

// A cell's point and device in JSON, the same in every kind of line, so that lines are joined by their values.

/// A value is a number where the number is written back as the same text, else text ("64x4", "linear").
nlohmann::ordered_json point_json(const std::vector<std::pair<std::string, std::string>>& point);

/// What a line that is no cell's record says of its device.
nlohmann::ordered_json device_json(const model::DeviceInfo& device);

// What every object for programs has, whichever command writes it (`cllab help json`).

/// {"schema", "record"}: what an object that is no cell's record begins with.
nlohmann::ordered_json fact(const char* record);
/// "figures": {name: {"value", "unit", "from"}}, the last says how it was obtained.
void add_figure(nlohmann::ordered_json& to, const std::string& name, const nlohmann::ordered_json& value,
                const std::string& unit, const std::string& from);
/// Of an object or a figure without an answer: "refused", a code; "reason", what was seen; "enough", what would do.
void add_refusal(nlohmann::ordered_json& to, const std::string& code, const std::string& seen,
                 const std::string& enough);

/// What a line that is no cell's record begins with, where it is of one cell.
nlohmann::ordered_json line_of(const char* record, const std::string& id,
                               const std::vector<std::pair<std::string, std::string>>& point,
                               const model::DeviceInfo& device);

/// On one line; what is not UTF-8 becomes U+FFFD, never an exception.
std::string line_text(const nlohmann::ordered_json& json);

}  // namespace cllab::report
