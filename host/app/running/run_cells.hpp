// The steps of `cllab run` and `cllab dump`: plan, run, compare, print.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/choose/choice.hpp"
#include "app/comparing/versus.hpp"
#include "app/files/outputs.hpp"
#include "app/processes/runner.hpp"
#include "app/screen/progress.hpp"

namespace cllab::app {

/// A request before execution: cells, processes and files. Devices and outputs are not opened yet.
struct RunPlan {
    RunOptions options;
    std::unique_ptr<Timings> timings;
    Outputs outputs;
    Choice choice;
    run::RunRequest request{};
    bool paired = false;  ///< the two cells of a comparison are compared over arrangements

    /// `earlier`: as in Choice.
    explicit RunPlan(const RunOptions& asked, const Snapshots& earlier = {});
    bool needs_isolation() const;
    /// Rejects what can be rejected before the first build, then opens the outputs. Returns the devices of the run.
    std::vector<model::Device> prepare(Runner& runner);
};

/// Thrown by a listener to end the comparison of a pair.
struct ComparisonEnded {
    std::string why;
};

/// Callbacks of a run. By default each does nothing.
class RunListener {
public:
    virtual ~RunListener() = default;
    virtual void done(const model::Cell&, std::size_t /*index*/, const model::Record&) {}
    /// May throw ComparisonEnded.
    virtual void compared(const model::Comparison& /*so_far*/) {}
};

/// Prepares the plan, verifies, measures, compares and prints. Returns the exit status.
int carry_out(RunPlan plan, Runner& runner, RunListener& listener);

}  // namespace cllab::app
