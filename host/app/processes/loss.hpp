// What it means for a cell that the worker which was in it died or shows no progress.
#pragma once

#include <string>

#include "app/processes/worker.hpp"
#include "model/result.hpp"
#include "run/request.hpp"

namespace cllab::app {

struct Loss {
    model::Status status;
    std::string reason;
    std::string cause{};  ///< likely cause, for kernel text that is not the lab's own; empty: unknown
};

Loss loss_by_silence(double timeout_seconds);
/// `status`: the worker's wait status. `passes_in_small_groups`: as below, of the cell that it was in; called where the
/// answer is the cause.
Loss loss_by_death(int status, const Position& position, const std::function<bool()>& passes_in_small_groups);

/// Whether a cell of the request goes through with work-groups of one item, which need little of the stack. Tries it in
/// a process of its own.
bool passes_in_small_groups(run::RunRequest request, const model::Cell& cell, const std::string& selector,
                            double timeout_seconds);

/// The `record` of a cell that is lost in this phase. `foreign`: the text is not the lab's own.
model::Record lost_record(model::Record record, const Loss& loss, const std::string& phase, bool foreign);

}  // namespace cllab::app
