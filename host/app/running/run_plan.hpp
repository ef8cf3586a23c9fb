// The steps of `cllab run` and `cllab dump`: plan, run, compare, print.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/choose/choice.hpp"
#include "app/comparing/versus.hpp"
#include "app/files/outputs.hpp"
#include "app/processes/runner.hpp"
#include "app/screen/timings.hpp"

namespace cllab::app {

/// What is asked for: cells, processes and files. No device was opened, and no output.
struct RunPlan {
    RunOptions options;
    std::unique_ptr<Timings> timings;
    Outputs outputs;
    Choice choice;
    run::RunRequest request{};
    bool paired = false;        ///< the two cells of a comparison are held against each other over arrangements
    std::size_t processes = 1;  ///< that share the cells of a device

    /// `earlier` and `ask`: as Choice's.
    explicit RunPlan(const RunOptions& asked, const Snapshots& earlier = {}, const AskDevice& ask = {});
    bool needs_isolation() const;
    /// Refuses what can be wrong before the first build, then opens the outputs. Returns the devices of the run.
    std::vector<model::Device> prepare(Runner& runner, class RunListener& listener);
};

/// Thrown by a listener: the pair is not compared to the end.
struct ComparisonEnded {
    std::string why;
};

/// Who takes part in a run from outside. Each function does nothing unless it says otherwise.
class RunListener {
public:
    virtual ~RunListener() = default;
    /// Nothing is built yet. Throws Error(usage) for devices that do not do.
    virtual void devices(const std::vector<model::Device>&) {}
    virtual void done(const model::Cell&, std::size_t /*index*/, const model::Record&) {}
    /// Whether the page is printed before pairs are compared; no.
    virtual bool wants_page_first() const { return false; }
    /// What is known of a pair without its times; nothing.
    virtual std::optional<model::Comparison> known_of(const Pair&) const { return std::nullopt; }
    virtual void begins_to_compare() {}
    /// May throw ComparisonEnded.
    virtual void compared(const model::Comparison& /*so_far*/) {}
    virtual model::Control control() const { return model::Control::both; }
};

/// Prepares the plan, verifies, measures, compares and prints. Returns the exit status.
int carry_out(RunPlan plan, Runner& runner, RunListener& listener);

}  // namespace cllab::app
