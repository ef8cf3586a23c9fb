// The command line of `cllab run` and `cllab dump`.
#pragma once

#include "app/commandline/options.hpp"

namespace cllab::app {

/// The options of a command line of `run` or `dump`, its first word included, e.g. one that a record keeps. Throws
/// Error(usage).
RunOptions run_options_of(const Strings& argv);

}  // namespace cllab::app
