// Which cells a baseline and today's program have, on which devices, joined by id and point.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/files/baseline.hpp"
#include "app/processes/runner.hpp"
#include "model/regression.hpp"

namespace cllab::app {

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
