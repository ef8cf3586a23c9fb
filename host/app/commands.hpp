// The commands. A new one is commands/NAME.cpp, which defines NAME_command(), and NAME.txt with what its help says.
#pragma once

#include "app/commandline/command.hpp"
#include "report/records/joined.hpp"

namespace cllab::app {

/// `cllab` alone: what it is, three calls, and the devices that are here. Returns 0, with or without a device.
int print_start();

/// The options of a command line of `run` or `dump`, its first word included, e.g. one that a record keeps. Throws
/// Error(usage).
RunOptions run_options_of(const Strings& argv);

// Parts of commands, in files of their own. Each returns the exit status.

/// `run` and `dump`: verifies, measures, compares and prints.
int run_cells(const RunOptions& asked);
int watch(const RunOptions& asked);
int check_oclgrind(const RunOptions& asked);

/// The records of the files, and on stderr what was left out of them. Throws Error(usage) for a file that cannot be
/// read.
report::Joined read_records(const Strings& paths);

}  // namespace cllab::app
