// A comparison in words, and as one JSON line; ratios of times and their intervals, as every page writes them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "model/comparison.hpp"

namespace cllab::report {

/// One line each: the verdict, how it was obtained, the control, and the cores that either side lacked.
std::string comparison_text(const model::Comparison& comparison);

/// One short line about the state of a running comparison.
std::string comparison_progress(const model::Comparison& comparison);

/// One line with `"record": "comparison"`, in the schema of records. Readers of records skip it.
std::string comparison_json(const model::Comparison& comparison);

/// A share of 1 in percent: "0.42 %", "3.1 %", "12 %".
std::string percent(double part);

/// Omits the interval if there is none.
nlohmann::ordered_json to_json(const model::RatioEstimate& estimate);
nlohmann::ordered_json to_json(const model::Arrangement& arrangement);

/// True for a line that names its kind of record, such as a comparison or a regression. A cell's record does not.
bool is_comparison(std::string_view line);

/// The verdict of such a line in a sentence; nullopt if the line is damaged.
std::optional<std::string> comparison_verdict(const std::string& line);

}  // namespace cllab::report
