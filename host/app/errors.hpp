// Exceptions of the standard library as sentences, with the status that follows from who is to blame.
#pragma once

#include <exception>

#include "core/error.hpp"

namespace cllab::app {

/// An Error as it is; no memory, no threads and what the system refuses as Error(environment); anything else is a fault
/// of this program: Error(result).
Error as_error(const std::exception& e);

int exit_status(Blame blame);

}  // namespace cllab::app
