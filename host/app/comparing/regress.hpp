// Today's cells against those of a baseline: which there are, on which devices, joined by id and point, what each
// side's code is, and how long they take in turns.
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

struct RegressOptions;

/// One cell of either side or of both.
struct RegressItem {
    model::RegressionCell out;
    const run::RunRequest* asked = nullptr;    ///< what its command line of the baseline asks for today
    std::optional<model::Cell> cell;           ///< today's
    std::vector<const model::Record*> before;  ///< the baseline's records of it, in the order of its runs
    std::shared_ptr<const model::StoredBuild> stored;
    std::shared_ptr<const model::Variant> variant;  ///< of a kernel file: today's, with the baseline's text
    std::optional<model::Record> today, rebuilt;
    std::optional<model::Record> again;           ///< --recorded: of the latest of several processes
    std::vector<double> logs_before, logs_today;  ///< --recorded

    bool comparable() const {
        return today && today->status == model::Status::ok && today->time && !before.empty() && before.back()->time;
    }
    /// Today's cell with the baseline's text.
    model::Cell stored_cell() const;
    void end(model::CellChange change, const std::string& reason);
    /// The change of a cell that no times decide. `ended`: the run did, before its time.
    void judge_without_times(bool ended);
};

/// What a failure of today's side is, where the baseline's was ok.
model::CellChange failure_since(model::Status today);

struct RegressCells {
    std::deque<run::RunRequest> asked;  ///< one a command line of the baseline; the items point into it
    std::vector<RegressItem> items;
};

/// The cells that the patterns of `invocation` name, of the records of `baseline` and of its command lines as they
/// would run today, each with the baseline's text where that will be built. The items point into both. One that cannot
/// be compared has its change and says why. Throws Error when no device of the baseline is here, no cell matches, or a
/// text is not what was built.
RegressCells regress_cells(const RegressOptions& invocation, const Baseline& baseline, Runner& runner);

}  // namespace cllab::app
