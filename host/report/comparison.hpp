// A comparison in words, and as one JSON line.
#pragma once

#include <string>

#include "model/comparison.hpp"

namespace cllab::report {

/// Three lines: the verdict, how it was obtained, and the control beside it.
std::string comparison_text(const model::Comparison& comparison);

/// One line, schema as records have it, `"record": "comparison"`; readers of records skip it.
std::string comparison_json(const model::Comparison& comparison);

}  // namespace cllab::report
