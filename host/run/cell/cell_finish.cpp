// What follows the sampling of a cell: code and dump, metrics and warnings, final checks.
#include <cmath>
#include <cstdlib>
#include <utility>

#include "core/clock.hpp"
#include "core/phases.hpp"
#include "core/stats.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "device/quirks.hpp"
#include "inspect/binary/cpu_code.hpp"
#include "model/result.hpp"
#include "run/cell/cell_sampling.hpp"
#include "run/measure.hpp"

namespace cllab::run {
namespace {

using namespace model;

/// Checks by the time whether the work is done. For code that could not be counted.
void check_line(CellState& state, unsigned operations) {
    // A simulator's trip counts are 1 and 2, without a middle.
    if (!state.setup.slope) return;
    const auto& slope = *state.setup.slope;
    if (slope.high - slope.low < 2) return;
    const InPhase phase(Phase::verify);
    const std::int32_t low = slope.low, high = slope.high - (slope.high - slope.low) % 2;
    auto& subject = *state.subject;
    std::vector<double> times[3];
    subject.timed(operations);  // warm-up: the device idled while the code was read
    const auto start = Clock::now();
    // Seven rounds allow an interval for the median. Three must do if a launch takes very long.
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
    if (state.settings.screening) {  // other cells have used its memory since
        const auto& time = state.record.time;
        const auto right = (time && time->stop_reason == "cut") || state.proved(state.subject->verify_again());
        state.subject->forget_read_back();
        return right;
    }
    if (state.setup.slope) state.subject->set_trips(state.setup.slope->high);
    if (!state.proved(state.subject->check_left())) return false;
    // The output of a long chain of operations cannot be checked. A new chain with one more operation than before can.
    if (state.setup.accumulates) return state.proved(state.subject->verify_one_more(state.settings.seed + 1));
    if (state.session.facts().implementation == Implementation::oclgrind) return true;  // simulated times show nothing
    return state.proved(state.subject->check_haste(state.settings.sampling_seconds));
}

/// Records how far the checks prove the result. Where variants are checked against each other, this is known only after
/// the whole comparison.
void say_proof(CellState& state) {
    const auto proof = state.setup.proof ? state.setup.proof() : Proof{"host code"};
    state.record.checked_by = proof.checked_by;
    state.record.problem = proof.problem;
    for (const auto& warning : proof.warnings)
        if (proof.disagrees.empty() || !is(warning, Warning::unproved)) state.warn(warning);
    if (proof.disagrees.empty()) return;
    state.record.checked_by.clear();
    state.fail(Status::disagree, proof.disagrees);
}

/// Adds the numbers that the family reads from the outputs as metrics.
void observe(CellState& state) {
    if (!state.setup.observe) return;
    if (!state.proved(state.subject->read_back())) return;
    for (const auto& [name, value] :
         state.setup.observe(state.subject->buffers(), state.subject->buffers().operations)) {
        if (std::isfinite(value)) state.record.metrics.push_back({name, {value, "", Better::neither}});
    }
}

/// Counts the bright pixels of the picture, as last read back and verified.
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

// --- Metrics of a sampled cell

void add(CellState& state, const std::string& metric, double value, const std::string& unit, Better better) {
    if (std::isfinite(value)) state.record.metrics.push_back({metric, {value, unit, better}});
}

/// Rates of the declared work.
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

/// Compares the record with the limits in the device's profile.
void hold_against_limits(CellState& state) {
    const auto& limits = state.instruments.limits();
    if (!limits) return;
    const bool one_launch =
        state.subject->event_clock() && !state.setup.slope && state.subject->first().single_launch();
    if (state.settings.judge)
        if (const auto warning = state.settings.judge(state.record, *limits, one_launch)) state.warn(*warning);
    if (state.settings.name_limit) state.record.limit = state.settings.name_limit(state.record, *limits);
}

// --- Warnings

/// If a write first reads what it overwrites, a copy moves more bytes than are counted. Caches may also read twice as
/// fast as they write. A rate beyond this multiple of a copy's rate is impossible.
constexpr double beyond_any_copy = 3;

void say_rate(CellState& state) {
    const auto& yardstick = state.record.yardstick;
    const auto& work = state.setup.work;
    if (!yardstick || state.setup.slope) return;
    const double rate = work.bytes / state.record.time->median;
    if (rate <= beyond_any_copy * yardstick->bandwidth) return;
    state.warn(
        Warning::beyond_memory,
        "it would move " + format_rate(rate, "B/s") + ", " + format_significant(rate / yardstick->bandwidth, 2) +
            " times as much as the copy of that size did; " +
            (work.assumed ? "it may not move every buffer once, as cllab assumes (if it moves less, declare e.g. 'work "
                            "bytes=4*n'), or other load slowed the copy"
                          : "the kernel skips some of the work, or other load slowed the copy"));
}

/// Warns about times that are too short for the timer or the events.
void say_resolution(CellState& state) {
    const auto& audit = state.session.timer();
    const auto& subject = *state.subject;
    const double t = state.record.time->median;
    if (!subject.event_clock()) return;
    if (!state.setup.slope && t < 3 * audit.empty_seconds)
        state.warn(Warning::below_floor, "shorter than three empty launches (" + format_seconds(audit.empty_seconds) +
                                             " each); make the work larger");
    const bool cold = state.settings.cache == Cache::cold;
    if (!cold && !state.fresh_data) return;
    const std::string each = cold ? "a cold sample is one operation" : "an operation on fresh data is timed alone";
    if (t * state.record.time->per_sample < 200e-9 * static_cast<double>(audit.step_ns))
        state.warn(Warning::coarse, each + ", which here is shorter than 200 steps of the timer (" +
                                        std::to_string(audit.step_ns) + " ns each); make the work larger");
    if (subject.is_row() && t < 200 * audit.event_seconds)
        state.warn(Warning::coarse,
                   each +
                       ", has an event at its first and its last command, and is shorter than 200 times the cost of an "
                       "event (" +
                       format_seconds(audit.event_seconds) + "); make the work larger");
}

/// Warns about the clock behind the time.
void say_clock(CellState& state) {
    const auto& subject = *state.subject;
    if (subject.events_exceeded_host())
        state.warn(Warning::event_exceeds_host,
                   "an event interval was longer than the host clock's around it; do not trust this row");
    if (const auto& native = state.record.native)
        state.warn(Warning::native, "hand-written C++ (" + native->compiler + ", " + native->instruction_set +
                                        "), timed by the host clock, thread wake-up included; event times of kernels "
                                        "do not include the launch");
    else if (!subject.event_clock())
        state.warn(Warning::host_clock,
                   state.session.timer().verdict + "; timed by the host clock, launch cost included");
    if (device::has_quirk(state.session.facts(), "oclgrind-timer"))
        state.warn(Warning::simulated,
                   "Oclgrind simulates, so its times mean nothing; use it to find races and out-of-bounds accesses");
}

/// Warns about disturbances during the sampling.
void say_disturbance(CellState& state, const Sampling& sampling) {
    const auto& timing = *state.record.time;
    if (const auto& clocks = state.record.clocks; clocks && !clocks->limits.empty())
        state.warn(Warning::clock_limited, "the clock was throttled during sampling (" + join(clocks->limits, ", ") +
                                               "; " + format_significant(clocks->core_mhz_low, 4) + " to " +
                                               format_significant(clocks->core_mhz_high, 4) + " MHz by " +
                                               clocks->source + ")");
    if (sampling.interrupted())
        state.warn(Warning::interrupted, "the run ended during the sampling of this cell, so it has fewer samples");
    if (sampling.throttled())
        state.warn(Warning::throttled, "the reference kernel between the samples varied by " +
                                           format_significant(100 * sampling.reference_spread(), 2) +
                                           " %; most samples are beside a run more than 10 % off, so none was dropped; "
                                           "the clock drifts or the device has other work");
    if (!model::had_its_cores(state.record))
        state.warn(Warning::few_cores,
                   "other processes took more than a tenth of the cores that its threads could use (record: cores, "
                   "waited), so it is ranked only against times that differ too much for that to be the cause; "
                   "on an idle machine it may be faster");
    if (const char* layers = std::getenv("OPENCL_LAYERS"); layers && *layers)
        state.warn(Warning::layers, "OPENCL_LAYERS is set to '" + excerpt(layers) +
                                        "': a layer between the lab and the driver may slow launches; unset it");
    if (!timing.settled)
        state.warn(Warning::not_settled,
                   "the warm-up ended before two windows agreed within 1 %; the device or the host is busy");
    if (timing.stop_reason == "noise-floor")
        state.warn(Warning::noise_floor,
                   "more samples no longer narrow the interval; look for other load on the device");
}

/// Fills the time and its metrics. False: the cell has no time. A step indistinguishable from zero has a time and no
/// rates.
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

/// Adds the times of an operation's parts, of the gaps between them, and of the whole, from an event per command.
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
    // Images are not transferred here. A missing figure is better than a zero.
    const double in = summarise(up).median, back = summarise(down).median;
    if (in > 0) add(state, "upload", in, "s", Better::lower);
    if (back > 0) add(state, "download", back, "s", Better::lower);
}

/// Records the largest errors that the tolerance allowed, over all checks.
void say_errors(CellState& state) {
    const auto* errors = state.setup.errors.get();
    if (!errors) return;
    add(state, "error_absolute", errors->absolute(), "", Better::lower);
    add(state, "error_relative", errors->relative(), "", Better::lower);
    if (errors->of_floating_point()) add(state, "error_ulp", errors->ulp(), "ulp", Better::lower);
}

/// Adds the warnings that any cell with a time may have.
void say_conditions(CellState& state, const Sampling& sampling) {
    say_rate(state);
    say_resolution(state);
    say_clock(state);
    say_disturbance(state, sampling);
}

void fill_record(CellState& state, Sampling& sampling) {
    if (!fill_metrics(state, sampling)) return;
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
    if (sampling && state.record.time) say_conditions(state, *sampling);
    say_errors(state);
    count_above(state);
}

void finish_arrangement(CellState& state, Sampling& sampling) {
    if (state.record.status != Status::ok || !state.subject) return;
    state.guarded([&] {
        if (!state.settings.one_core) {
            if (!state.proved(state.subject->guard_damage())) return;
            say_proof(state);
        }
        if (state.record.status != Status::ok) return;
        sampling.keep_all();
        sampling.conclude();
        if (!state.record.time) return;
        state.record.time->shared_memory = state.subject->shares_memory();
        // The metric marks the time as a difference, whose samples may be negative.
        if (state.setup.slope)
            state.record.metrics.push_back({"step_time", {state.record.time->median, "s", Better::lower}});
    });
}

}  // namespace cllab::run
