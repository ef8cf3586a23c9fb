// What follows the sampling of a cell: its code and the dump, its metrics and warnings, the last checks.
#include "run/cell/cell_finish.hpp"

#include <utility>

namespace cllab::run {
namespace {

void fill_record(CellState& state, Sampling& sampling) {
    if (!fill_metrics(state, sampling)) return;
    say_conditions(state, sampling);
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
    say_errors(state);
    count_above(state);
    say_proof(state);
}

void finish_arrangement(CellState& state, Sampling& sampling) {
    if (state.record.status != Status::ok || !state.subject) return;
    state.guarded([&] {
        if (!state.proved(state.subject->guard_damage())) return;
        say_proof(state);
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
