// One request on one device, by one worker after the other: cells become events, a death or a hang becomes a record,
// and a new worker goes on with the rest.
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

/// In the worker: the cells of the request but for those `finished`.
void carry_out(LocalDevices& devices, const run::RunRequest& request, const std::string& selector,
               const std::set<run::CellNumber>& finished, Link& parent, Position& position);

/// A worker that carries the request out. `known`: of the device, or nullptr.
std::unique_ptr<Worker> begin_worker(const run::RunRequest& request, const std::string& selector,
                                     const std::set<run::CellNumber>& finished, const device::DeviceState* known);

class Lane {
public:
    /// A worker for what is left of the request.
    using Begin = std::function<std::unique_ptr<Worker>(const run::RunRequest&, const std::set<run::CellNumber>&)>;

    /// `first`: a worker that was begun for this request; where its driver fails before a cell, `begin` makes one that
    /// tells what it was. May be nullptr.
    Lane(const std::string& selector, const run::RunRequest& request, const std::set<run::CellNumber>& finished,
         const Begin& begin, std::unique_ptr<Worker> first = nullptr);

    /// Until all cells are done. Throws run::Interrupted, DeviceLost, and what a worker threw that is no fault of its
    /// device.
    void run(double timeout_seconds, const Events& events);
    bool first_failed() const { return first_failed_; }
    /// What a worker that finished knows of the device.
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

    // Of the worker of now.
    std::map<run::CellNumber, model::Record> known_;
    bool any_finished_ = false;
};

}  // namespace cllab::app
