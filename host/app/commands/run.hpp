// `cllab run` and `cllab dump`, and what else they do with --watch and --check.
#pragma once

#include "app/commandline/options.hpp"

namespace cllab::app {

/// The options of a command line of `run` or `dump`, its first word included, e.g. one that a record keeps. Throws
/// Error(usage).
RunOptions run_options_of(const Strings& argv);

/// Verifies, measures, compares and prints. Each returns the exit status.
int run_cells(const RunOptions& asked);
int watch(const RunOptions& asked);
int check_oclgrind(const RunOptions& asked);

}  // namespace cllab::app
