// The program behind main(), in the library: with headers of its own main.cpp took 4 s to compile.
#pragma once

#include <exception>

#include "core/error.hpp"

namespace cllab::app {

/// Carries out the command line; its exit status.
int run_program(int argc, char** argv);

// Exceptions of the standard library as sentences, with the status that follows from who is to blame.

/// An Error as it is; no memory, no threads and what the system refuses as Error(environment); anything else is a fault
/// of this program: Error(result).
Error as_error(const std::exception& e);

int exit_status(Blame blame);

}  // namespace cllab::app
