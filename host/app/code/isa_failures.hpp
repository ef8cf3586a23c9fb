// What `cllab isa` says of kernels without code.
#pragma once

#include <vector>

#include "app/code/isa_code.hpp"

namespace cllab::app {

/// Says on stderr what has no code, kernels of a user's text with one reason together, and what is not as it was asked
/// for; the exit status.
int report_failures(const std::vector<CellCode>& codes, const IsaOptions& invocation);

}  // namespace cllab::app
