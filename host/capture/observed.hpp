// The program, started with the layer in its environment, and what it loads while no layer has answered yet.
#pragma once

#include <string>
#include <vector>

#include "capture/board.hpp"

namespace cllab::capture {

struct Observed {
    int status = 0;       ///< its exit status; 128 + signal when killed by one
    int signal = 0;       ///< that killed it
    std::string loader;   ///< path of the OpenCL loader that one of its processes loaded
    std::string drivers;  ///< a driver that was loaded without a loader: the program has a static loader
};

/// Runs the program with this process's streams and environment, `output` as its standard output, and waits for its
/// end. It passes SIGTERM and SIGHUP on to the program from then on. Throws Error(usage) if the program cannot be
/// started.
Observed run_observed(const std::vector<std::string>& command, int output, const Board& board);

}  // namespace cllab::capture
