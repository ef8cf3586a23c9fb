// Workers that carry out requests at the same time, and who looks after them in the parent: their cells become events,
// a death or a hang becomes a record, and a new worker goes on with the rest.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "app/processes/local_devices.hpp"
#include "app/processes/worker.hpp"

namespace cllab::run {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Part, comparison, first, last)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Room, device, host)
}  // namespace cllab::run

namespace cllab::app {

/// What workers have in common and ask their parent for: parts of a request and memory, or their turn.
class Coordinator {
public:
    virtual ~Coordinator() = default;
    /// What the worker of this lane gets; nothing: it has to wait, and is asked for again.
    virtual std::optional<Message> answer(std::size_t lane, const Message& question) = 0;
    /// A worker of the lane has ended; another one may follow.
    virtual void ended(std::size_t lane) { static_cast<void>(lane); }
};

/// What a worker asks its parent for: nothing, which part of the request it does and room for each cell, or when it may
/// measure a comparison.
enum class Asks { nothing, parts, turns };

/// In the worker: the cells of the request but for those `finished`.
void carry_out(LocalDevices& devices, const run::RunRequest& request, const std::string& selector,
               const std::set<run::CellNumber>& finished, Link& parent, Position& position, Asks asks = Asks::nothing);

/// A worker that carries the request out. `known`: of the device, or nullptr.
std::unique_ptr<Worker> begin_worker(const run::RunRequest& request, const std::string& selector,
                                     const std::set<run::CellNumber>& finished, const device::DeviceState* known,
                                     Asks asks = Asks::nothing);

/// One request on one device, by one worker after the other.
class Lane {
public:
    /// A worker for what is left of the request.
    using Begin = std::function<std::unique_ptr<Worker>(const run::RunRequest&, const std::set<run::CellNumber>&)>;

    /// `first`: a worker that was begun for this request; where its driver fails before a cell, `begin` makes one that
    /// tells what it was. May be nullptr.
    Lane(const std::string& selector, const run::RunRequest& request, const std::set<run::CellNumber>& finished,
         const Begin& begin, std::unique_ptr<Worker> first);

    bool over() const { return over_; }
    bool interrupted() const { return interrupted_; }
    const std::string& trouble() const { return trouble_; }  ///< why its device or driver failed; empty: it did not
    bool first_failed() const { return first_failed_; }
    /// What a worker that finished knows of the device.
    const std::optional<device::DeviceState>& device_state() const { return device_state_; }

private:
    friend class Pool;

    void begin();
    /// False when there is nothing to see for now.
    bool poll(double timeout_seconds, const Events& events);
    void take(const std::string& line, const Events& events);
    void died(int status, double timeout_seconds, const Events& events);
    void lost(model::Status status, const std::string& reason, const std::string& cause, const Events& events);
    void fail(const std::string& why);
    bool passes_in_small_groups(double timeout_seconds) const;
    const model::Record* current() const;

    std::string selector_;
    run::RunRequest request_;
    std::set<run::CellNumber> finished_;
    Begin begin_;
    std::unique_ptr<Worker> worker_;
    bool is_first_, over_ = false, interrupted_ = false, first_failed_ = false;
    std::string trouble_;
    std::optional<device::DeviceState> device_state_;
    unsigned begun_ = 0;  ///< workers

    // Of the worker of now.
    std::map<run::CellNumber, model::Record> known_;
    bool any_finished_ = false;
    Message announced_;  ///< the message whose record is the next line
    Message question_;   ///< not yet answered
};

class Pool {
public:
    /// `coordinator`: where workers ask for something.
    Pool(double timeout_seconds, const Events& events, Coordinator* coordinator = nullptr)
        : timeout_seconds_(timeout_seconds), events_(events), coordinator_(coordinator) {}

    const Lane& add(const std::string& selector, const run::RunRequest& request,
                    const std::set<run::CellNumber>& finished, const Lane::Begin& begin,
                    std::unique_ptr<Worker> first = nullptr) {
        return lanes_.emplace_back(selector, request, finished, begin, std::move(first));
    }
    /// Takes in what there is, after a tenth of a second at most. False when all lanes are over. Throws what a worker
    /// threw that is no fault of its device.
    bool turn();
    const std::list<Lane>& lanes() const { return lanes_; }

private:
    double timeout_seconds_;
    const Events& events_;
    Coordinator* coordinator_;
    std::list<Lane> lanes_;
};

}  // namespace cllab::app
