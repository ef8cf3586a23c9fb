#include "run/rounds.hpp"

#include <algorithm>

#include "core/clock.hpp"
#include "core/grouped.hpp"

namespace cllab::run {
namespace {

/// Where the time of one depends on what operations do to the data, all begin with the data put back: like is held
/// against like.
void treat_data_alike(Cells& cells) {
    const auto one = std::ranges::find_if(cells, [](const auto& c) { return c.state->fresh_data; });
    if (one == cells.end()) return;
    for (auto& cell : cells)
        cell.sampling->begin_with_fresh_data("cllab restores the inputs before each timed operation, as for '" +
                                             one->state->cell.id + "', whose time depends on it");
}

void refer(const Running& run, Cells& cells) {
    if (cells.empty()) return;
    const double seconds = run.instruments.reference().take();
    const auto clocks = run.session.clocks();
    for (auto& cell : cells) {
        cell.sampling->reference(seconds);
        if (clocks) cell.state->clocks(*clocks);
    }
}

}  // namespace

void sample_until_known(const Running& run, std::size_t number, Cells& cells) {
    auto& yardsticks = run.instruments.yardsticks();
    treat_data_alike(cells);
    // Round by round, so that drift hits every cell of the comparison alike.
    auto active = places_in(cells);
    refer(run, cells);
    for (unsigned round = 0; !active.empty() && !run.events.cancelled(); ++round) {
        std::erase_if(active, [&](std::size_t i) {
            run.events.begin(number, cells[i].index, cells[i].state->record, "sample");
            return !cells[i].sampling->sample(round);
        });
        // ABBA: who goes first, and after whom, evens out.
        std::ranges::reverse(active);
        yardsticks.sample();
        // Between rounds, so that what is set aside is whole rounds of every cell.
        if (active.empty() || run.instruments.reference().due()) refer(run, cells);
        // The last reference may have taken away what seemed enough.
        if (active.empty()) active = places_where(cells, [](const auto& c) { return c.sampling->lacks_samples(); });
    }
    while (!run.events.cancelled() && yardsticks.sample()) {
    }
    // An interrupt ends the sampling, not the cells: what has samples is finished with what it has.
    for (const auto i : active) cells[i].sampling->stop_early();
}

/// Rounds in pairs, the second in the reverse order of the first (ABBA), the first in a random one.
void sample_arrangement(const Running& run, std::size_t number, Cells& cells, Random& random) {
    constexpr unsigned least = 6, few = 2;
    auto turns = places_in(cells);
    treat_data_alike(cells);
    refer(run, cells);
    const auto start = Clock::now();
    for (unsigned round = 0;; ++round) {
        const double spent = seconds_since(start) / static_cast<double>(cells.size());
        if (run.events.cancelled()) break;
        if (round % 2 == 0) {
            if (round >= least && spent >= run.request.settings.sampling_seconds) break;
            if (round >= few && spent >= 4 * run.request.settings.sampling_seconds) break;
            std::ranges::shuffle(turns, random);
        } else {
            std::ranges::reverse(turns);
        }
        for (const auto i : turns) {
            run.events.begin(number, cells[i].index, cells[i].state->record, "sample");
            if (!cells[i].sampling->sample_of_arrangement(round)) return;
        }
        if (run.instruments.reference().due()) refer(run, cells);
    }
    refer(run, cells);
}

}  // namespace cllab::run
