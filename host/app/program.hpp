// The program behind main(). It is in the library, because main.cpp with these includes took 4 s to compile.
#pragma once

#include <exception>

#include "core/error.hpp"

namespace cllab::app {

/// Runs the command line. Returns the exit status.
int run_program(int argc, char** argv);

// Converts exceptions to Errors, and Errors to exit statuses.

/// Returns an Error unchanged. Lack of memory or threads and refused system calls become Error(environment). Anything
/// else is a fault of this program: Error(result).
Error as_error(const std::exception& e);

int exit_status(Blame blame);

}  // namespace cllab::app
