// What `cllab run` and `cllab dump` do with a command line, also with --watch and --check.
#pragma once

#include "app/commandline/options.hpp"

namespace cllab::app {

/// Verifies, measures, compares and prints. Each returns the exit status.
int run_cells(const RunOptions& asked);
int watch(const RunOptions& asked);
/// The guessed block, printed or written beside the kernel file.
int show_block(const RunOptions& options);
int check_oclgrind(const RunOptions& asked);

}  // namespace cllab::app
