// The metrics of a sampled cell.
#include <cmath>

#include "core/phases.hpp"
#include "core/stats.hpp"
#include "core/units.hpp"
#include "inspect/binary/cpu_code.hpp"
#include "run/cell/cell_sampling.hpp"

namespace cllab::run {
namespace {

using namespace model;

void add(CellState& state, const std::string& metric, double value, const std::string& unit, Better better) {
    if (std::isfinite(value)) state.record.metrics.push_back({metric, {value, unit, better}});
}

/// Of the declared work.
void add_rates(CellState& state) {
    const auto& work = state.setup.work;
    const double t = state.record.time->median;
    if (state.setup.slope) return add(state, "step_time", t, "s", Better::lower);
    if (work.bytes > 0) add(state, "bandwidth", work.bytes / t, "B/s", Better::higher);
    if (state.record.yardstick)
        add(state, "of_copy", 100 * work.bytes / t / state.record.yardstick->bandwidth, "%", Better::higher);
    if (work.flops > 0) add(state, "flops", work.flops / t, "FLOP/s", Better::higher);
    if (work.steps > 0) add(state, "step_time", t / work.steps, "s", Better::lower);
}

/// By the profile of the device.
void hold_against_limits(CellState& state) {
    const auto& limits = state.instruments.limits();
    if (!limits) return;
    const bool one_launch =
        state.subject->event_clock() && !state.setup.slope && state.subject->first().single_launch();
    if (state.settings.judge)
        if (const auto warning = state.settings.judge(state.record, *limits, one_launch)) state.warn(*warning);
    if (state.settings.name_limit) state.record.limit = state.settings.name_limit(state.record, *limits);
}

}  // namespace

bool fill_metrics(CellState& state, Sampling& sampling) {
    sampling.conclude();
    if (!state.record.time) return state.fail(Status::timed_out, "interrupted before its first sample");
    const auto& timing = *state.record.time;
    const double t = timing.median;
    const auto is_real = plausible(timing, state.setup.slope && state.setup.slope->may_be_free);
    if (is_real == Plausible::no)
        return state.fail(Status::wrong_result,
                          implausible_step + format_significant(t, 3) +
                              " s, which is impossible: the code lacks the work, or the clock is wrong");
    inspect::learn_groups(state.record.work, state.ran, state.subject->first().global());
    if (is_real == Plausible::nothing) {
        state.warn(Warning::no_cost,
                   "between " + format_significant(timing.low, 2) + " and " + format_significant(timing.high, 2) +
                       " s per step, " +
                       (timing.high < 0 ? "below zero, so it is less than the noise" : "indistinguishable from zero"));
        return true;
    }
    add_rates(state);
    if (const auto huge = state.subject->first().huge_share())
        add(state, "huge_pages", 100 * *huge, "%", Better::neither);
    for (const auto& metric : state.cell.experiment->metrics)
        add(state, metric.name, metric.compute(state.setup, t), metric.unit, metric.better);
    hold_against_limits(state);
    return true;
}

void fill_parts(CellState& state, const Sampling& sampling) {
    if (sampling.parts().empty()) {
        if (state.settings.steps && !state.record.native && !state.subject->event_clock() &&
            !state.subject->first().single_launch())
            state.warn(Warning::no_steps,
                       "only events time the parts of an operation, and this device's events are not trusted");
        return;
    }
    for (const auto& [name, seconds] : sampling.parts())
        add(state, "step_" + name, summarise(seconds).median, "s", Better::lower);
}

void time_transfers(CellState& state) {
    if (!state.setup.time_transfers) return;
    const InPhase phase(Phase::transfers, InPhase::Inner::included);
    std::vector<double> up, down;
    for (int i = 0; i < 5; ++i) {
        up.push_back(state.subject->first().time_upload(state.setup));
        down.push_back(state.subject->first().time_download());
    }
    // Images have no upload of this kind; no figure beats a zero.
    const double in = summarise(up).median, back = summarise(down).median;
    if (in > 0) add(state, "upload", in, "s", Better::lower);
    if (back > 0) add(state, "download", back, "s", Better::lower);
}

void say_errors(CellState& state) {
    const auto* errors = state.setup.errors.get();
    if (!errors) return;
    add(state, "error_absolute", errors->absolute(), "", Better::lower);
    add(state, "error_relative", errors->relative(), "", Better::lower);
    if (errors->of_floating_point()) add(state, "error_ulp", errors->ulp(), "ulp", Better::lower);
}

}  // namespace cllab::run
