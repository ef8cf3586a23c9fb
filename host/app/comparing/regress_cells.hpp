// Which cells a baseline and today's program have, on which devices, joined by id and point.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/commandline/options.hpp"
#include "app/files/baseline.hpp"
#include "app/processes/runner.hpp"
#include "model/regression.hpp"

namespace cllab::app {

/// Everything that one command line of the baseline asks for today.
struct AskedAgain {
    std::vector<std::string> argv;
    run::RunRequest request;
};

/// One cell of either side or of both.
struct RegressItem {
    model::RegressionCell out;
    const AskedAgain* asked = nullptr;
    std::optional<model::Cell> cell;           ///< today's
    std::vector<const model::Record*> before;  ///< the baseline's records of it, in the order of its runs
    std::shared_ptr<const model::StoredBuild> stored;
    std::optional<model::Record> today, rebuilt;
    std::vector<double> logs_before, logs_today;  ///< --recorded

    bool comparable() const {
        return today && today->status == model::Status::ok && today->time && !before.empty() && before.back()->time;
    }
};

struct RegressCells {
    std::vector<std::unique_ptr<AskedAgain>> asked;
    std::vector<RegressItem> items;
};

/// The cells that the patterns of `invocation` name, of the records of `baseline` and of its command lines as they
/// would run today. The items point into both. Throws Error when nothing can be compared: no command line is
/// understood, no device is here, or no cell matches.
RegressCells regress_cells(const RegressOptions& invocation, const Baseline& baseline, Runner& runner);

}  // namespace cllab::app
