// What follows the sampling of a cell: its code and the dump, its metrics and warnings, the last checks.
#include <cmath>
#include <utility>

#include "core/clock.hpp"
#include "core/phases.hpp"
#include "run/cell/cell_sampling.hpp"
#include "run/measure.hpp"

namespace cllab::run {
namespace {

using namespace model;

/// Checks by the time that the work is done, where the code could not be counted.
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

/// Rule 1 (host/README.md): verifies once more after timing. Checks the output of the timed operations first, then
/// whether each operation does its work.
bool proved_after(CellState& state) {
    if (state.setup.slope) state.subject->set_trips(state.setup.slope->high);
    if (!state.proved(state.subject->check_left())) return false;
    // What a long chain of operations has left cannot be checked, but a chain of another length than before can.
    if (state.setup.accumulates) return state.proved(state.subject->verify_one_more(state.settings.seed + 1));
    if (state.session.facts().implementation == Implementation::oclgrind) return true;  // its times are of a simulation
    return state.proved(state.subject->check_haste(state.settings.sampling_seconds));
}

/// Records how far the checks prove the result. Where variants are checked against each other, only the whole
/// comparison knows.
void say_proof(CellState& state) {
    const auto proof = state.setup.proof ? state.setup.proof() : Proof{"host code"};
    state.record.checked_by = proof.checked_by;
    for (const auto& warning : proof.warnings) state.warn(warning);
    if (proof.disagrees.empty()) return;
    state.record.checked_by.clear();
    state.fail(Status::disagree, proof.disagrees);
}

/// The numbers that the family reads from the outputs.
void observe(CellState& state) {
    if (!state.setup.observe) return;
    if (!state.proved(state.subject->read_back())) return;
    for (const auto& [name, value] :
         state.setup.observe(state.subject->buffers(), state.subject->buffers().operations)) {
        if (std::isfinite(value)) state.record.metrics.push_back({name, {value, "", Better::neither}});
    }
}

/// The bright pixels of the picture, as it was last read back and found right.
void count_above(CellState& state) {
    const auto level = state.settings.count_above;
    for (const auto& [name, picture] : state.setup.pictures) {
        const auto data = state.subject->buffers().data.find(name);
        if (!level || data == state.subject->buffers().data.end()) continue;
        auto& above = state.record.above.emplace();
        above.level = *level;
        const auto grey = picture.grey(data->second);
        for (std::size_t i = 0; i < grey.size(); ++i) {
            const auto value = std::to_integer<unsigned>(grey[i]);
            if (value <= *level) continue;
            if (++above.pixels <= Above::most_listed)
                above.first.push_back(
                    {static_cast<unsigned>(i % picture.width), static_cast<unsigned>(i / picture.width), value});
        }
        state.record.metrics.push_back(
            {"above_" + std::to_string(*level), {static_cast<double>(above.pixels), "", Better::neither}});
    }
}

void fill_record(CellState& state, Sampling& sampling) {
    if (!fill_metrics(state, sampling)) return;
    say_conditions(state, sampling);
    sampling.measure_energy();
    count_per_unit(state);
    fill_parts(state, sampling);
    observe(state);
    if (state.record.status != model::Status::ok || !proved_after(state)) return;
    if (!state.work_counted && !sampling.interrupted()) check_line(state, sampling.operations());
    time_transfers(state);
}

}  // namespace

void see_code(CellState& state) {
    if (std::exchange(state.code_seen, true)) return;
    state.guarded([&] { sample_hot_code(state); });
    state.announce("dump");
    state.guarded([&] { read_code(state); });
}

void finish(CellState& state, Sampling* sampling) {
    see_code(state);
    if (sampling && state.record.status == model::Status::ok) {
        state.announce("verify again");
        state.guarded([&] { fill_record(state, *sampling); });
    }
    if (state.record.status != model::Status::ok) return;
    say_proof(state);
    if (state.record.status != model::Status::ok) return;
    say_errors(state);
    count_above(state);
}

void finish_arrangement(CellState& state, Sampling& sampling) {
    if (state.record.status != Status::ok || !state.subject) return;
    state.guarded([&] {
        if (!state.proved(state.subject->guard_damage())) return;
        say_proof(state);
        if (state.record.status != Status::ok) return;
        sampling.keep_all();
        sampling.conclude();
        if (!state.record.time) return;
        state.record.time->shared_memory = state.subject->shares_memory();
        // That it is a difference, of which single samples may be negative.
        if (state.setup.slope)
            state.record.metrics.push_back({"step_time", {state.record.time->median, "s", Better::lower}});
    });
}

}  // namespace cllab::run
