// Which code of a cell runs: launches of their own, after the timed ones, while addresses are sampled.
#include <algorithm>

#include "core/phases.hpp"
#include "core/units.hpp"
#include "run/address_sampler.hpp"
#include "run/cell_state.hpp"

namespace cllab::run {

void sample_hot_code(CellState& state) {
    const double seconds = state.settings.hot_seconds;
    if (seconds <= 0 || !state.subject || state.record.status != model::Status::ok || !state.session.facts().is_cpu()) return;
    if (!inspect::runs_on_the_host(inspect::recognise(binary_of(state)))) return;
    state.announce("hot code");
    const InPhase phase(Phase::hot_code);
    auto& subject = *state.subject;
    if (state.setup.slope) subject.set_trips(state.setup.slope->high);
    const double one = std::max(subject.timed(1), 1e-7);
    if (one > 3 * seconds) {
        state.record.hot = model::Hot{.reason = "an operation takes " + format_seconds(one) + ", and --hot is " + format_seconds(seconds)};
        return;
    }
    const bool cold = state.settings.cache == Cache::cold;
    constexpr double piece = 0.01;
    const auto operations = cold ? 1u : static_cast<unsigned>(std::clamp(piece / one, 1.0, 1000.0));
    const auto work = [&] {
        if (cold) state.instruments.flush().run();
        subject.timed(operations);
    };
    state.addresses = sample_addresses(work, one * operations, seconds);
}

}  // namespace cllab::run
