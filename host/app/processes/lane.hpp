// One of several processes that work at the same time for this one, which hears of their cells in the order in which
// they tell.
#pragma once

#include <poll.h>

#include <functional>
#include <string>
#include <vector>

#include "app/processes/child.hpp"
#include "app/processes/runner.hpp"

namespace cllab::app {

/// A process that hands on what the processes of its cells tell.
class Lane {
public:
    /// `work`: runs cells on the device `selector` in child processes, and tells the events.
    Lane(const std::string& selector, const std::function<void(const Events&)>& work);

    /// Tells `events` of what has arrived.
    void receive(const Events& events);

    const std::string& selector() const { return selector_; }
    const std::string& trouble() const { return trouble_; }  ///< why its device or driver failed; empty: it did not
    bool over() const { return over_; }
    pollfd wait() const { return {child_.descriptor(), POLLIN, 0}; }

private:
    void tell(const Message& message, const model::Record& record, const Events& events);

    std::string selector_, trouble_;
    bool over_ = false;
    const Position nowhere_;
    Message announced_;  ///< the message whose record is the next line
    Child child_;        // last: the child starts with everything above in place
};

/// Receives from those that are not over what there is, after a tenth of a second at the most.
template <typename Lanes>
void receive_from(Lanes& lanes, const Events& events) {
    std::vector<pollfd> waits;
    for (const auto& lane : lanes)
        if (!lane.over()) waits.push_back(lane.wait());
    poll(waits.data(), waits.size(), 100);
    std::size_t at = 0;
    for (auto& lane : lanes) {
        if (lane.over()) continue;
        if (waits[at++].revents != 0 || interrupted()) lane.receive(events);
    }
}

}  // namespace cllab::app
