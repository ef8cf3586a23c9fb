// `--rebuild N`: the same text built by N fresh processes, to tell what the kernel does from what the build did.
//
// Compilers have been seen to choose between two schedules by the addresses of their own process, 6 % apart. Building
// again in one process misses that, and so does a forked one, which has its parent's addresses. So each build is a new
// program, with the randomisation of addresses on and an empty cache of the driver's; a second process runs the same
// build from that cache, so that two processes of one code can be told from two codes.
#pragma once

#include "app/commandline/options.hpp"

namespace cllab::app {

struct IsaOptions;

/// Builds, verifies and times each cell of `run`, both sides of --vs; the exit status.
int rebuild_on_devices(const RunOptions& invocation);

/// Compiles each cell of `isa --target`; needs no device.
int rebuild_for_target(const IsaOptions& invocation);

}  // namespace cllab::app
