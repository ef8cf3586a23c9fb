// A comparison in words, and as one JSON line; ratios of times and their intervals, as every page writes them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "model/comparison.hpp"

namespace cllab::report {

/// Three lines: the verdict, how it was obtained, and the control beside it.
std::string comparison_text(const model::Comparison& comparison);

/// One short line while it goes on.
std::string comparison_progress(const model::Comparison& comparison);

/// One line, schema as records have it, `"record": "comparison"`; readers of records skip it.
std::string comparison_json(const model::Comparison& comparison);

/// Of a share of 1: "0.42 %", "3.1 %", "12 %".
std::string percent(double part);

/// The interval is left out where none is covered.
nlohmann::ordered_json to_json(const model::RatioEstimate& estimate);
nlohmann::ordered_json to_json(const model::Arrangement& arrangement);

/// True for a line of a comparison or a regression run: what says which record it is, and is not a cell's.
bool is_comparison(std::string_view line);

/// The verdict of such a line in a sentence; nothing for a line that is damaged.
std::optional<std::string> comparison_verdict(const std::string& line);

}  // namespace cllab::report
