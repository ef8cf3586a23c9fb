// Which code of a cell runs: launches of their own, after the timed ones, while addresses are sampled.
#include <algorithm>

#include "core/phases.hpp"
#include "core/units.hpp"
#include "inspect/code/accounting.hpp"
#include "run/address_sampler.hpp"
#include "run/cell/cell_state.hpp"

namespace cllab::run {

void sample_hot_code(CellState& state) {
    const double seconds = state.settings.hot_seconds;
    if (seconds <= 0 || !state.subject || state.record.native || state.record.status != model::Status::ok ||
        !state.session.facts().is_cpu())
        return;
    if (!inspect::runs_on_the_host(inspect::recognise(binary_of(state)))) return;
    state.announce("hot code");
    const InPhase phase(Phase::hot_code);
    auto& subject = *state.subject;
    if (state.setup.slope) subject.set_trips(state.setup.slope->high);
    if (state.fresh_data) subject.restore();
    const double one = std::max(subject.timed(1), 1e-7);
    if (one > 3 * seconds) {
        state.record.hot = model::Hot{.reason = "an operation takes " + format_seconds(one) + ", and --hot is " +
                                                format_seconds(seconds)};
        return;
    }
    const bool cold = state.settings.cache == Cache::cold;
    constexpr double piece = 0.01;
    const auto operations = cold || state.fresh_data ? 1u : static_cast<unsigned>(std::clamp(piece / one, 1.0, 1000.0));
    const auto work = [&] {
        if (state.fresh_data) subject.restore();
        if (cold) state.instruments.flush().run();
        subject.timed(operations);
    };
    state.addresses = sample_addresses(work, one * operations, seconds);
}

std::optional<model::Hot> hot_by_account(const CellState& state, const inspect::Analysis& analysis) {
    if (state.session.facts().is_cpu()) return std::nullopt;
    return inspect::account(analysis, state.setup);
}

void count_per_unit(CellState& state) {
    const auto& hot = state.record.hot;
    if (state.record.status != model::Status::ok || !hot || !hot->hottest()) return;
    // An instruction set that has one memory shows local memory's stores as any other.
    if (state.record.code.local_bytes.value_or(0) > 0) return;
    const auto declared = inspect::declared_in_place(state.setup);
    const auto times = declared ? inspect::executions(*hot->hottest(), *declared) : std::nullopt;
    if (!times) return;
    const double instructions = *times * hot->hottest()->instructions;
    state.record.work.instructions = instructions;
    if (const auto units = model::units_of(*state.cell.experiment, state.setup))
        state.record.metrics.push_back(
            {"hot_code", {instructions / units->number, "instr/" + units->unit, model::Better::neither}});
    else
        state.record.metrics.push_back(
            {"hot_code", {instructions / declared->moved, "instr/B", model::Better::neither}});
}

}  // namespace cllab::run
