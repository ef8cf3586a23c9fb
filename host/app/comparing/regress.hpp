// Today's cells against those of a baseline: which there are, what each side's code is, and how long they take in
// turns.
#pragma once

#include <functional>
#include <string>

#include "app/commandline/options.hpp"
#include "app/processes/runner.hpp"
#include "core/phases.hpp"
#include "model/regression.hpp"

namespace cllab::app {

struct RegressOptions : Call, FileOptions {
    Strings devices, columns;
    std::string cl_dir, build_options, label;
    double threshold = 0.02;  ///< a slower cell is slower by more than this
    double comparison_seconds = 10, timeout_seconds = 60;
    std::uint64_t seed = std::random_device{}();
    bool recorded = false, strict = false, results_may_change = false, allow_new_compiler = false;
};

struct RegressResult {
    model::Regression regression;
    Phases of_cells{};
    bool interrupted = false;
    std::string lost;  ///< why the device was lost; empty: it was not
};

/// invocation.patterns: the baseline's folder, then the cells. Both sides run on the device of the baseline, or on the
/// one that the invocation names when it is of the same platform and type. `before_running`: called when all that is
/// read has been read. `progress` gets a line at a time. Throws Error.
RegressResult regress(const RegressOptions& invocation, Runner& runner, const std::function<void()>& before_running,
                      const std::function<void(const std::string&)>& progress);

}  // namespace cllab::app
