// A child process that works on a request, and who looks after it: events become the parent's, a death becomes a
// record.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "app/processes/child.hpp"
#include "app/processes/run_here.hpp"

namespace cllab::app {

struct Worker {
    SharedPage<Position> position;
    std::unique_ptr<Child> child;  // last: it starts with everything above in place
};

/// In the child: the cells of the request but for those `finished`. Where it is goes to `position`, what is worth a
/// record to the parent's end `fd`. `share`: what it does of them; nothing: all.
void carry_out(Here& here, const run::RunRequest& request, const std::string& selector,
               const std::set<run::CellNumber>& finished, const std::function<void(std::size_t)>& measures,
               Position& position, int fd, run::Share* share = nullptr);

class Supervision {
public:
    /// Adds to `finished`; a child that dies while builds may be under way for other cells takes builds_ahead from the
    /// request.
    Supervision(std::unique_ptr<Worker> worker, run::RunRequest& request, const std::string& selector,
                double timeout_seconds, const Events& events, std::set<run::CellNumber>& finished)
        : request_(request),
          selector_(selector),
          timeout_seconds_(timeout_seconds),
          events_(events),
          finished_(finished),
          worker_(std::move(worker)) {}

    /// Until the child ends. True when the plan is finished; false: a new child goes on with the rest. Throws what the
    /// child threw, run::Interrupted, and DeviceLost where it failed before its first cell.
    bool watch();
    /// What a child that finished knows of the device.
    const std::optional<device::Standing>& standing() const { return standing_; }

private:
    void show() const;
    void receive(const Message& message, const model::Record& record);
    void lost(model::Status status, const std::string& reason, const std::string& cause);
    void died(int status);
    /// In the cell where the child died of a segmentation fault: it goes through with work-groups of one item, which
    /// need little of the stack.
    bool passes_in_small_groups() const;

    run::RunRequest& request_;
    const std::string& selector_;
    double timeout_seconds_;
    const Events& events_;
    std::set<run::CellNumber>& finished_;
    std::unique_ptr<Worker> worker_;
    std::map<run::CellNumber, model::Record> known_;
    bool any_finished_ = false;
    std::optional<device::Standing> standing_;
    Message announced_;  ///< the message whose record is the next line
};

}  // namespace cllab::app
