// Runs the program with the layer in its environment. Observes its libraries until the layer reports.
#pragma once

#include <string>
#include <vector>

#include "capture/board.hpp"

namespace cllab::capture {

struct Observed {
    int status = 0;       ///< its exit status; 128 + signal when killed by one
    int signal = 0;       ///< signal that killed it; 0: none
    std::string loader;   ///< exit status; 128 + signal if a signal killed it
    std::string drivers;  ///< a driver loaded without a loader: the program's loader is statically linked
};

/// Runs the program with this process's streams and environment, but with `output` as its standard output, and waits
/// for its end. From then on, passes SIGTERM and SIGHUP to the program. Throws Error(usage) if the program cannot be
/// started.
Observed run_observed(const std::vector<std::string>& command, int output, const Board& board);

}  // namespace cllab::capture
