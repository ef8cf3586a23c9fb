// Who takes the next sample: the cells of one comparison in turns, so that drift hits them alike.
#pragma once

#include <set>

#include "core/random.hpp"
#include "run/finish_queue.hpp"
#include "run/instruments.hpp"

namespace cllab::run {

/// What the comparisons of one run have in common.
struct Running {
    device::Session& session;
    Instruments& instruments;
    const RunRequest& request;
    const std::set<CellNumber>& finished;
    FinishQueue& finish_queue;
    const Events& events;
    Share* share;              ///< null: all of the request is this process's
    std::size_t prepared = 0;  ///< cells
};

/// Samples the cells of comparison `number` until each knows its time or has no more to spend; the yardsticks that were
/// begun are sampled between.
void sample_until_known(const Running& run, std::size_t number, Cells& cells);
/// Those of one arrangement, for as long as the settings say.
void sample_arrangement(const Running& run, std::size_t number, Cells& cells, Random& random);

}  // namespace cllab::run
