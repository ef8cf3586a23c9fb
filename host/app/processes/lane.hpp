// Executes one request on one device with a sequence of workers. Cells become events. If a worker dies or hangs, its
// cell gets a record that says so, and a new worker continues with the remaining cells.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "app/processes/protocol.hpp"
#include "app/processes/runner.hpp"
#include "app/processes/worker.hpp"
#include "model/result.hpp"
#include "run/request.hpp"

namespace cllab::app {

struct Loss {
    model::Status status;
    std::string reason;
    std::string cause{};  ///< likely cause if the kernel text is the user's; empty: unknown
};

Loss loss_by_silence(double timeout_seconds);
/// `status`: the worker's wait status. `passes_in_small_groups`: the test below for the worker's current cell; called
/// only after SIGSEGV.
Loss loss_by_death(int status, const Position& position, const std::function<bool()>& passes_in_small_groups);

/// Whether a cell of the request runs with work-groups of one work-item, which need little stack. Tries it in a child
/// process.
bool passes_in_small_groups(run::RunRequest request, const model::Cell& cell, const std::string& selector,
                            double timeout_seconds);

/// Completes the record of a cell whose worker died or hung in `phase`. `foreign`: the kernel text is the user's.
model::Record lost_record(model::Record record, const Loss& loss, const std::string& phase, bool foreign);

/// For the worker: runs the cells of the request except those in `finished`.
void carry_out(LocalDevices& devices, const run::RunRequest& request, const std::string& selector,
               const std::set<run::CellNumber>& finished, Link& parent, Position& position);

/// Starts a worker for the request. `known`: state of the device, or nullptr.
std::unique_ptr<Worker> begin_worker(const run::RunRequest& request, const std::string& selector,
                                     const std::set<run::CellNumber>& finished, const device::DeviceState* known);

class Lane {
public:
    /// Starts a worker for the remaining cells of the request.
    using Begin = std::function<std::unique_ptr<Worker>(const run::RunRequest&, const std::set<run::CellNumber>&)>;

    /// `first`: a worker already started for this request, or nullptr. If its driver fails before any cell is finished,
    /// `begin` starts a fresh worker, which reports the cause.
    Lane(const std::string& selector, const run::RunRequest& request, const std::set<run::CellNumber>& finished,
         const Begin& begin, std::unique_ptr<Worker> first = nullptr);

    /// Runs until all cells are done. Throws run::Interrupted, DeviceLost, and worker errors that the device did not
    /// cause.
    void run(double timeout_seconds, const Events& events);
    bool first_failed() const { return first_failed_; }
    /// The state of the device as a worker reported it when it finished.
    const std::optional<device::DeviceState>& device_state() const { return device_state_; }

private:
    void begin();
    void wait_for_one(double timeout_seconds, const Events& events);
    void take(const CellTold& told, const Events& events);
    void lost(const Loss& loss, const Events& events);
    void fail(const std::string& why);
    bool passes_in_small_groups(double timeout_seconds) const;
    const model::Record* current() const;
    const model::Cell& cell_of(const Position& position) const {
        return request_.comparisons.at(position.group).at(position.index);
    }

    std::string selector_;
    run::RunRequest request_;
    std::set<run::CellNumber> finished_;
    Begin begin_;
    std::unique_ptr<Worker> worker_;
    bool is_first_, over_ = false, first_failed_ = false;
    std::optional<device::DeviceState> device_state_;

    // State of the current worker.
    std::map<run::CellNumber, model::Record> known_;
    bool any_finished_ = false;
};

}  // namespace cllab::app
