// Who takes the next sample: the cells of one comparison in turns, so that drift hits them alike.
#pragma once

#include "core/random.hpp"
#include "run/finish_queue.hpp"
#include "run/instruments.hpp"

namespace cllab::run {

class Rounds {
public:
    /// Of the comparison with this number.
    Rounds(device::Session& session, Instruments& instruments, const Settings& settings, Observer& observer,
           std::size_t number)
        : session_(session), instruments_(instruments), settings_(settings), observer_(observer), number_(number) {}

    /// Until each cell knows its time or has no more to spend; the yardsticks that were begun are sampled between.
    void until_known(Cells& cells);
    /// Those of one arrangement, for as long as the settings say.
    void of_arrangement(Cells& cells, Random& random);

private:
    void treat_data_alike(Cells& cells);
    void refer(Cells& cells);

    device::Session& session_;
    Instruments& instruments_;
    const Settings& settings_;
    Observer& observer_;
    std::size_t number_;
};

}  // namespace cllab::run
