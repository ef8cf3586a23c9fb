// A forecast as a block of text, in a sentence, and as one JSON line.
#pragma once

#include <string>

#include "model/explanation.hpp"
#include "model/limits.hpp"
#include "report/table/table.hpp"

namespace cllab::report {

/// Whose profile it is by, and that it is a lower bound.
std::string forecast_heading(const model::Record& record, const model::Limits& limits, const TableStyle& style);

/// "at least 33.3 us; memory bandwidth would limit it", for bounds that explain::forecast made.
std::string forecast_sentence(const model::Explanation& forecast);

std::string forecast_text(const model::Record& record, const model::Explanation& forecast, const TableStyle& style);

/// One line, `"record": "forecast"`; readers of records skip it.
std::string forecast_json(const model::Record& record, const model::Explanation& forecast);

}  // namespace cllab::report
