// The program, started with the layer in its environment, and what it loads while no layer has answered yet.
#pragma once

#include <string>
#include <vector>

#include "capture/board.hpp"

namespace cllab::capture {

struct Observed {
    int status = 0;       ///< its exit status; 128 + signal when killed by one
    int signal = 0;       ///< that killed it
    std::string loader;   ///< an OpenCL loader that a process of it had loaded
    std::string drivers;  ///< or a driver, without a loader: that one is linked into the program
};

/// Runs the program with this process's streams and environment, `output` as its standard output, and waits for its
/// end. From then on signals that end a program are the child's. Throws Error(usage) for a program that cannot be
/// started.
Observed run_observed(const std::vector<std::string>& command, int output, const Board& board);

/// The OpenCL loader of this process.
std::string own_loader();

}  // namespace cllab::capture
