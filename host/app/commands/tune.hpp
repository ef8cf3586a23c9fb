// `cllab tune` by whoever runs its cells.
#pragma once

#include "app/commandline/options.hpp"
#include "app/processes/runner.hpp"

namespace cllab::app {

struct TuneOptions : CellOptions, FileOptions {
    std::optional<double> max_time, budget;
    double sampling_seconds = 0.4, comparison_seconds = 10;
    std::string dumps = "dumps", strategy = "auto", resume;
};

/// Tries the points of each variant on each device, prints which is the fastest, and returns the exit status.
int tune(const TuneOptions& invocation, Runner& runner);

}  // namespace cllab::app
