// Work that measures nothing, done by several processes of one device at the same time.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <set>

#include "app/processes/runner.hpp"

namespace cllab::app {

/// How many processes share the cells of each device: `asked`, or where that is 0 one for four of the host's cores and
/// for sixteen cells, four at the most. 1 where cells are measured.
std::size_t processes_for(const run::RunRequest& request, std::size_t asked, unsigned cores);

/// Hands on what came in any order in the order of the request.
class InOrder {
public:
    InOrder(const run::RunRequest& request, const Events& events);
    void done(run::CellNumber cell, const model::Record& record);
    /// The rest, with holes where cells are not done.
    void hand_on_all();
    /// What done() was told of.
    const std::set<run::CellNumber>& cells() const { return done_; }
    bool complete() const { return left_.empty(); }

private:
    void hand_on();

    const Events& events_;
    std::deque<run::CellNumber> left_;  ///< not yet handed on
    std::map<run::CellNumber, model::Record> waiting_;
    std::set<run::CellNumber> done_;
};

/// The request on one device in so many processes, each with a child process for its cells as in_child_processes()
/// makes them. `events` hears of the cells that are done in the order of the request. `alone`: does what is left when
/// the driver failed all of them. Throws run::Interrupted when what was done is told.
void share_out(const run::RunRequest& request, const model::Device& device, std::size_t processes,
               double timeout_seconds, const Events& events,
               const std::function<void(const std::set<run::CellNumber>& already)>& alone);

}  // namespace cllab::app
