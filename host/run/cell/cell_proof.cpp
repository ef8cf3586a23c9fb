// What proves a timed cell: its results once more, and that the work was there.
#include "core/clock.hpp"
#include "core/phases.hpp"
#include "run/cell/cell_finish.hpp"
#include "run/measure.hpp"

namespace cllab::run {

using namespace model;

void check_line(CellState& state, unsigned operations) {
    // A simulator's trip counts 1 and 2 have no middle.
    if (!state.setup.slope) return;
    const auto& slope = *state.setup.slope;
    if (slope.high - slope.low < 2) return;
    const InPhase phase(Phase::verify);
    const std::int32_t low = slope.low, high = slope.high - (slope.high - slope.low) % 2;
    auto& subject = *state.subject;
    std::vector<double> times[3];
    subject.timed(operations);  // the device has rested while the code was read
    const auto start = Clock::now();
    // Seven rounds have an interval of their own; three will do where a launch takes very long.
    for (unsigned round = 0; round < 7 && (round < 3 || seconds_since(start) < state.settings.sampling_seconds);
         ++round) {
        for (const int k : {0, 1, 2}) {
            subject.set_trips(low + (high - low) / 2 * k);
            times[k].push_back(subject.timed(operations));
        }
    }
    if (const auto wrong = not_linear(times[0], times[1], times[2], slope.may_be_free))
        state.warn(Warning::not_linear,
                   *wrong + "; the compiler may have removed the work, and cllab cannot count this code");
}

bool proved_after(CellState& state) {
    if (state.setup.slope) state.subject->set_trips(state.setup.slope->high);
    if (!state.proved(state.subject->check_left())) return false;
    // What a long chain of operations has left cannot be checked, but a chain of another length than before can.
    if (state.setup.accumulates) return state.proved(state.subject->verify_one_more(state.settings.seed + 1));
    if (state.session.facts().implementation == Implementation::oclgrind) return true;  // its times are of a simulation
    return state.proved(state.subject->check_haste(state.settings.sampling_seconds));
}

void say_proof(CellState& state) {
    const auto proof = state.setup.proof ? state.setup.proof() : Proof{"host code"};
    state.record.checked_by = proof.checked_by;
    for (const auto& warning : proof.warnings) state.warn(warning);
}

}  // namespace cllab::run
