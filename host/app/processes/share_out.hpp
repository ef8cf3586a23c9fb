// Work that measures nothing, done by several processes of one device at the same time.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "app/processes/pool.hpp"

namespace cllab::app {

/// How many processes share the cells of each device: `asked`, or where that is 0 one for four of the host's cores and
/// for sixteen cells, four at the most. 1 where cells are measured.
std::size_t processes_for(const run::RunRequest& request, std::size_t asked, unsigned cores);

/// The comparisons of a request in parts of `most_cells` at the most.
std::vector<run::Part> parts_of(const run::RunRequest& request, std::size_t most_cells);

/// Parts of a request and memory, given out to several workers: each takes the next part as it comes to it, so that
/// long cells hold up one of them and not the run.
class SharedWork : public Coordinator {
public:
    /// `memory`: what the cells that are worked on at the same time may take together.
    SharedWork(std::vector<run::Part> parts, const run::Room& memory, std::size_t lanes)
        : parts_(std::move(parts)), memory_(memory), lanes_(lanes) {}

    // As run::Share, for a lane.
    std::optional<run::Part> next(std::size_t lane);
    bool take(std::size_t lane, const run::Room& room);
    void give_back(std::size_t lane, const run::Room& room);

    std::optional<Message> answer(std::size_t lane, const Message& question) override;
    /// What its worker had reserved is free again, and the next one begins with the parts that it had.
    void ended(std::size_t lane) override;

private:
    struct OfLane {
        run::Room reserved;
        std::vector<run::Part> had;
        std::size_t done_again = 0;  ///< of those that it had
    };

    std::vector<run::Part> parts_;
    std::size_t given_ = 0;  ///< of the parts
    run::Room memory_;
    std::vector<OfLane> lanes_;
};

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
    const Events& events_;
    std::map<run::CellNumber, std::optional<model::Record>> left_;  ///< not yet handed on, and what is known of them
    std::set<run::CellNumber> done_;
};

/// The request on one device in so many processes, `events` hears of the cells that are done in the order of the
/// request. `alone`: does what is left when the driver failed all of them. Throws run::Interrupted when what was done
/// is told.
void share_out(const run::RunRequest& request, const model::Device& device, std::size_t processes,
               double timeout_seconds, const Events& events,
               const std::function<void(const std::set<run::CellNumber>& already)>& alone);

}  // namespace cllab::app
