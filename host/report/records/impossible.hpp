// What no run can have measured, whatever a record says.
#pragma once

#include <optional>
#include <string>

#include "model/result.hpp"

namespace cllab::report {

/// Why the record cannot be, in words that follow "this record cannot be: "; nothing when it can. `has_samples`: the
/// record states its samples (a shortened one may leave them out), so that they must agree with its time.
std::optional<std::string> impossible(const model::Record& record, bool has_samples);

}  // namespace cllab::report
