// What an operation draws: the device at rest, then a long row of operations, each over several windows.
#include <algorithm>
#include <chrono>
#include <thread>

#include "core/clock.hpp"
#include "core/phases.hpp"
#include "core/stats.hpp"
#include "run/cell/cell_sampling.hpp"
#include "run/conditions/energy.hpp"

namespace cllab::run {
namespace {

constexpr double windows = least_for_interval;
constexpr double rest_lead = 0.5, rest_window = 0.25, lead = 1, window = 0.5;
constexpr double late = 0.15;  // seconds by which a window is longer, as it ends with a move of the counter

constexpr double seconds_of(double before, double each) { return before + windows * (each + late); }

/// Why operations cannot follow each other with nothing between them; empty where they can.
std::string what_is_between(const CellState& state) {
    if (state.fresh_data) return "the data is put back before each operation, which draws energy, too";
    if (state.settings.cache == Cache::cold)
        return "the caches are flushed before each operation, which draws energy, too";
    return "";
}

}  // namespace

double Sampling::run_row(double seconds) {
    constexpr double batch_seconds = 0.05;  // the device rests for some 0.1 ms between two of them
    auto& subject = *state_.subject;
    const auto most = reach_ > 1 ? static_cast<double>(reach_ - 1) : 1e5;
    const auto batch = static_cast<unsigned>(std::clamp(batch_seconds / std::max(subject.timed(1), 1e-9), 1.0, most));
    const auto start = Clock::now();
    double done = 0;
    for (; seconds_since(start) < seconds; done += batch) {
        put_data_back_in_time(batch);
        subject.run(batch);
    }
    return seconds_since(start) / done;
}

void Sampling::measure_energy() {
    auto& record = state_.record;
    if (!state_.settings.energy || !record.time || interrupted_) return;
    const auto none = [&](const std::string& why) {
        state_.warn(model::Warning::no_energy, "the energy is not known: " + why);
    };
    if (const auto why = what_is_between(state_); !why.empty()) return none(why);
    std::string why;
    const auto meter = device::energy_meter(state_.session.facts(), why);
    if (!meter.joules) return none(why.substr(std::string("none: ").size()));
    const InPhase phase(Phase::energy);
    state_.announce("energy");
    const auto rest = power_of(
        readings_during(
            meter,
            [] { std::this_thread::sleep_for(std::chrono::duration<double>(seconds_of(rest_lead, rest_window))); }),
        rest_lead, rest_window);
    double seconds = 0;
    if (state_.setup.slope) state_.subject->set_trips(state_.setup.slope->high);
    const auto busy =
        power_of(readings_during(meter, [&] { seconds = run_row(seconds_of(lead, window)); }), lead, window);
    for (const auto& power : {rest, busy})
        if (!power.trouble.empty()) return none("the counter of " + meter.source + " " + power.trouble);
    if (state_.setup.slope)
        seconds = record.time->median;  // a step's: the row is of operations with many
    else if (const auto trouble = trouble_of_row(seconds, record.time->median); !trouble.empty())
        return none(trouble);
    const auto all = summarise(busy.watts);
    record.energy = {.joules = all.median * seconds,
                     .low = all.low * seconds,
                     .high = all.high * seconds,
                     .idle = median_of(rest.watts) * seconds,
                     .watts = all.median,
                     .windows = all.n,
                     .updates = busy.updates,
                     .source = meter.source};
}

}  // namespace cllab::run
