// The commands. A new one is a file below commands/ and a row in commands.cpp.
#pragma once

#include <string>
#include <vector>

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

/// `--rebuild N`: the same text built by N fresh processes, to tell what the kernel does from what the build did.
/// Builds, verifies and times each cell of `run`, both sides of --vs.
int rebuild_on_devices(const RunOptions& invocation);
/// The same of each cell of `isa --target`, which needs no device.
struct IsaOptions;
int rebuild_for_target(const IsaOptions& invocation);

/// `devices --noise`: equal code against itself for ten seconds on each selected device, by the rule of `cllab run
/// --vs`: how small a difference this machine can tell now, and what disturbs it.
int print_noise(const CellOptions& invocation);

/// The records of the files, and on stderr what was left out of them. Throws Error(usage) for a file that cannot be
/// read.
report::Joined read_records(const Strings& paths);

/// `cllab complete -- WORDS`, for the completions of shells: what the last word may become. No command of its own,
/// because it takes words that are no options.
int complete(std::vector<std::string> words);

}  // namespace cllab::app
