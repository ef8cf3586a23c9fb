// Compares today's cells with a baseline: finds the cells and devices, joins both sides by id and point, compares their
// code, and times them alternately.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/commandline/options.hpp"
#include "app/files/baseline.hpp"
#include "app/processes/runner.hpp"
#include "core/phases.hpp"
#include "model/comparison.hpp"

namespace cllab::app {

struct RegressOptions : Call, FileOptions {
    Strings devices, columns;
    std::string cl_dir, build_options, label;
    double threshold = 0.02;  ///< a change up to this fraction is not slower
    double comparison_seconds = 10, timeout_seconds = 60;
    std::uint64_t seed = std::random_device{}();
    bool recorded = false, strict = false, results_may_change = false, allow_new_compiler = false;
};

struct RegressResult {
    model::Regression regression;
    Phases of_cells{};
    bool interrupted = false;
    std::string lost;  ///< why the device was lost; empty: not lost
};

/// invocation.patterns: the baseline's folder, then the cells. Both sides run on the baseline's device, or on the one
/// that the invocation names if it has the same platform and type. `before_running`: called after all input files are
/// read. `progress` gets one line at a time. Throws Error.
RegressResult regress(const RegressOptions& invocation, Runner& runner, const std::function<void()>& before_running,
                      const std::function<void(const std::string&)>& progress);

struct RegressOptions;

/// A cell of one side or of both sides.
struct RegressItem {
    model::RegressionCell out;
    const run::RunRequest* asked = nullptr;    ///< today's request for its command line of the baseline
    std::optional<model::Cell> cell;           ///< today's cell
    std::vector<const model::Record*> before;  ///< the baseline's records of the cell, in the order of its runs
    std::shared_ptr<const model::StoredBuild> stored;
    std::shared_ptr<const model::Variant> variant;  ///< for a kernel file: today's variant with the baseline's text
    std::optional<model::Record> today, rebuilt;
    std::optional<model::Record> again;           ///< --recorded: record of the latest further process
    std::vector<double> logs_before, logs_today;  ///< --recorded

    bool comparable() const {
        return today && today->status == model::Status::ok && today->time && !before.empty() && before.back()->time;
    }
    /// Today's cell with the baseline's text.
    model::Cell stored_cell() const;
    void end(model::CellChange change, const std::string& reason);
    /// Sets the change of a cell that has no test. `ended`: the run ended early.
    void judge_without_times(bool ended);
};

/// The change of a cell that fails today and was ok in the baseline.
model::CellChange failure_since(model::Status today);

struct RegressCells {
    std::deque<run::RunRequest> asked;  ///< one per command line of the baseline; the items point into it
    std::vector<RegressItem> items;
};

/// The cells that the patterns of `invocation` name. They come from the records of `baseline`, and from its command
/// lines as they would run today. Each has the baseline's text if that will be built. The items point into both
/// arguments. An item that cannot be compared has its change and the reason. Throws Error if no device of the baseline
/// is available, no cell matches, or a text is not the one that was built.
RegressCells regress_cells(const RegressOptions& invocation, const Baseline& baseline, Runner& runner);

}  // namespace cllab::app
