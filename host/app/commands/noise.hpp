// `cllab devices --noise`: how small a difference this machine can tell now, and what disturbs it.
#pragma once

#include "app/commandline/options.hpp"

namespace cllab::app {

/// Equal code against itself for ten seconds on each selected device, by the rule of `cllab run --vs`; the exit status.
int print_noise(const CellOptions& invocation);

}  // namespace cllab::app
