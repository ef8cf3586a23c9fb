// A comparison in words, and as one JSON line.
#pragma once

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

/// True for a line of a comparison, a regression run or a history: what says which record it is, and is not a cell's.
bool is_comparison(std::string_view line);

/// The verdict of such a line in a sentence; nothing for a line that is damaged.
std::optional<std::string> comparison_verdict(const std::string& line);

}  // namespace cllab::report
