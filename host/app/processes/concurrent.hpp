// Several workers at once: several processes of one device that share work which measures nothing, and several devices
// of one run, each in processes of its own, where neither slows the other.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
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

/// Those that may work at once, by --parallel: gpus, those with memory of their own; all; never. Empty unless there are
/// two, and enough comparisons for it to pay.
std::vector<model::Device> may_work_at_once(const std::vector<model::Device>& devices, const run::RunRequest& request,
                                            const std::string& parallel);

/// A cell that took longer beside others by more than this share and these seconds together, beyond both intervals, was
/// slowed by them. The seconds: what launches of one kernel differ by from process to process (saxpy of 16 KiB on an
/// H200: 6.1 to 6.8 us).
constexpr double slowed_by = 0.02, slowed_by_seconds = 1e-6;

/// Why the cells beside others do not stand for those alone; nothing where they do. `ratios` gets the least and the
/// most that a median changed by.
std::optional<std::string> slowed(const std::vector<model::Record>& alone, const std::vector<model::Record>& beside,
                                  std::pair<double, double>& ratios);

/// When each device may measure: one after the other the witness alone, in the order of their numbers, then all of them
/// at the same time.
class Turns : public Coordinator {
public:
    static constexpr std::size_t alone = 0, beside = 1;  ///< the numbers of these comparisons

    explicit Turns(std::size_t devices) : done_alone_(devices, false) {}
    /// Whether the device may measure this comparison now.
    bool may_measure(std::size_t device, std::size_t comparison);
    /// The device measures alone no more: it has done so, or it is lost.
    void leave(std::size_t device) { done_alone_.at(device) = true; }

    std::optional<Message> answer(std::size_t device, const Message& question) override;

private:
    std::vector<bool> done_alone_;
};

/// Two cells, the first of the first comparison and of the last, are measured on each device alone and then on all of
/// them at the same time; the request comes behind that in the same processes. `events` hears nothing until it is known
/// that the two take as long as alone on each of the devices, and then of every cell, with the warning "side-by-side"
/// in its record, and `lose` of devices whose driver failed. Where one is slowed they hear nothing, and what is
/// returned says why the devices have to work one after the other. Throws run::Interrupted when what was done is told.
std::optional<std::string> run_side_by_side(
    const run::RunRequest& request, const std::vector<model::Device>& devices, double timeout_seconds,
    const Events& events, const std::function<void(const model::Device&, const std::string& why)>& lose);

}  // namespace cllab::app
