// The commands. A new one needs commands/NAME.cpp, which defines NAME_command(), and NAME.txt with its help.
#pragma once

#include "app/commandline/command.hpp"
#include "report/records/joined.hpp"

namespace cllab::app {

/// `cllab` without arguments: prints what it is, three examples, and the devices. Returns 0, even without a device.
int print_start();

/// The options of a command line of `run` or `dump`, for example one from a record. `argv` includes the program's name.
/// Throws Error(usage).
RunOptions run_options_of(const Strings& argv);

// Parts of commands, in their own files. Each returns the exit status.

/// `run` and `dump`: verifies, measures, compares and prints.
int run_cells(const RunOptions& asked);
int watch(const RunOptions& asked);
int check_oclgrind(const RunOptions& asked);

/// The records in the files. Prints on stderr which lines were skipped. Throws Error(usage) for an unreadable file.
report::Joined read_records(const Strings& paths);

}  // namespace cllab::app
