// What limits a cell: as a block of text, in a sentence, and as one JSON line.
#pragma once

#include <string>

#include "model/explanation.hpp"
#include "report/table/table.hpp"

namespace cllab::report {

/// The device, and whose peaks it is held against.
std::string explanation_heading(const model::Record& record, const std::string& profile_utc, const TableStyle& style);

/// "97 %"
std::string whole_percent(double part);

/// The part of the time that the largest bound, with the one that follows it in time, explains; 1 at the most.
double explained(const model::Explanation& explanation, const model::Timing& time);

/// "limited by memory bandwidth: 97 % of the time", "not explained: 43 %" and so on, for a record with a time.
std::string limit_sentence(const model::Explanation& explanation, const model::Timing& time);

/// The cell with its time and the sentence, the bar that makes 100 % of the time, a line for each bound, and what has
/// none.
std::string explanation_text(const model::Record& record, const model::Explanation& explanation,
                             const TableStyle& style);

/// One line, schema as records have it, `"record": "why"`; readers of records skip it.
std::string explanation_json(const model::Record& record, const model::Explanation& explanation);

}  // namespace cllab::report
