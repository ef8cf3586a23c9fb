// What limits a cell: as a block of text, in a sentence, and as one JSON line.
#pragma once

#include <string>

#include "model/explanation.hpp"
#include "report/table/table.hpp"

namespace cllab::report {

/// The device, and the date of the profile whose peaks are used.
std::string explanation_heading(const model::Record& record, const std::string& profile_utc, const TableStyle& style);

/// "97 %"
std::string whole_percent(double part);

/// The share of the time that the largest bound explains, together with the bound that follows it in time. At most 1.
double explained(const model::Explanation& explanation, const model::Timing& time);

/// "limited by memory bandwidth: 97 % of the time", "not explained: 43 %" and so on, for a record with a time.
std::string limit_sentence(const model::Explanation& explanation, const model::Timing& time);

/// limit_sentence(), and if it names no limiter, the command that shows more.
std::string limit_statement(const model::Record& record, const model::Explanation& explanation);

/// The cell with its time and limit_statement(), one line per bound, and what has no bound.
std::string explanation_text(const model::Record& record, const model::Explanation& explanation,
                             const TableStyle& style);

/// One line with `"record": "why"`, in the schema of records. Readers of records skip it.
std::string explanation_json(const model::Record& record, const model::Explanation& explanation);

}  // namespace cllab::report
