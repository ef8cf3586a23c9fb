#include "run/cell/cell_sampling.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/clock.hpp"
#include "core/phases.hpp"
#include "core/stats.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "model/result.hpp"
#include "model/work.hpp"
#include "run/conditions/energy.hpp"
#include "run/conditions/reference.hpp"

namespace cllab::run {

Sampling::Sampling(CellState& state)
    : state_(state),
      rules_(rules_for(state.session.facts(), state.settings)),
      stop_(rules_),
      drift_(rules_.first_check),
      random_(mix64(state.settings.seed)) {}

double Sampling::timed() {
    auto& subject = *state_.subject;
    CoreClock::Reading cores;
    double seconds = 0;
    if (state_.fresh_data) {
        seconds = timed_on_fresh_data(cores);
    } else {
        const auto before = cores_ ? cores_->now() : CoreClock::Reading{};
        seconds = subject.timed(per_sample_);
        if (cores_) cores = cores_->now() - before;
    }
    // For a slope, subtract the first run's amount from the second's, as for the time.
    this_sample_.had = cores / per_sample_ - this_sample_.had;
    this_sample_.duration += seconds * per_sample_;
    this_sample_.cores = this_sample_.cores + cores;
    return seconds;
}

double Sampling::one_sample() {
    auto& subject = *state_.subject;
    if (!state_.fresh_data) begin_operation(0);
    this_sample_ = {};
    if (!state_.setup.slope) return timed();
    const auto& slope = *state_.setup.slope;
    subject.set_trips(slope.low);
    const double low = timed();
    subject.set_trips(slope.high);
    const double high = timed();
    const double steps = static_cast<double>(slope.high - slope.low) * slope.steps_per_trip;
    this_sample_.had = this_sample_.had / steps;
    return (high - low) / steps;
}

bool Sampling::warm_up() {
    state_.announce("warm up");
    return state_.guarded([&] {
        settled_ = warm_up_device(state_.session, state_.instruments.reference(), rules_);
        const InPhase phase(Phase::warm_up);
        auto& subject = *state_.subject;
        const auto& audit = state_.session.timer();
        if (state_.setup.slope) subject.set_trips(state_.setup.slope->high);
        // The driver has compiled the kernel for this local size during verification. This launch absorbs the rest of a
        // cold start.
        if (!state_.settings.screening) subject.timed(1);
        const double one = std::max(subject.timed(1), 1e-9);
        // A single very short launch varies by chance. Therefore a batch of about 100 us gives the time of an
        // operation.
        const unsigned handful = operations_per_sample(one, 0, 0, 0, rules_);
        const double operation =
            handful == 1 ? one : std::max(std::min({one, subject.timed(handful), subject.timed(handful)}), 1e-9);
        per_sample_ = operations_per_sample(operation, static_cast<double>(audit.step_ns) * 1e-9, audit.empty_seconds,
                                            subject.is_row() ? audit.event_seconds : 0, rules_);
        if (state_.settings.cache == Cache::cold) per_sample_ = 1;  // a second one would find cached data
        operation_seconds_ = operation;
        look_at_data(operation);
    });
}

void Sampling::check_outputs() {
    auto& subject = *state_.subject;
    if (!state_.proved(subject.check_left())) return;
    subject.poison();
    subject.run();  // not timed: it finds the poison in the caches
    // Draw the next check from the coming doubling of the samples, so that no kernel can foresee it.
    const auto from = check_before_;
    check_before_ = std::max(rules_.first_check, 2 * from);
    next_check_ = from + static_cast<unsigned>(random_.below(check_before_ - from));
}

bool Sampling::sample(unsigned round) {
    state_.guarded([&] {
        if (samples_ == next_check_ && !state_.settings.screening) check_outputs();
    });
    if (state_.record.status != model::Status::ok) return false;
    const auto start = Clock::now();
    sample_of_arrangement(round);
    ++samples_;
    spent_ += seconds_since(start);
    return lacks_samples();
}

bool Sampling::sample_of_arrangement(unsigned round) {
    return state_.guarded([&] {
        const InPhase phase(Phase::sampling);
        // Only for kernels on a CPU device. For a GPU, the host's threads do not compute. In a native loop, the calling
        // thread computes, too.
        if (!cores_ && state_.session.facts().is_cpu() && !state_.record.native) cores_.emplace();
        put_data_back_in_time(per_sample_ + fills_caches());
        if (fills_caches()) state_.subject->run();
        const double seconds = one_sample();
        this_sample_.seconds = seconds;
        if (cores_ && cores_->is_known()) shared_.push_back(this_sample_);
        drift_.sample(seconds, round);
        auto& subject = *state_.subject;
        if (!has_parts()) return;
        begin_operation(0);
        subject.time_parts(state_.fresh_data ? 1 : per_sample_, parts_);
    });
}

bool Sampling::lacks_samples() {
    if (cut_ || state_.record.status != model::Status::ok) return false;
    const auto taken = drift_.used().size() + drift_.aside().size();
    // The samples set aside may take at most three times the time cap of the others, as their number is limited to
    // three times.
    if (taken > 0 &&
        spent_ * static_cast<double>(drift_.aside().size()) / static_cast<double>(taken) > 3 * rules_.sampling_seconds)
        drift_.give_up();
    return !stop_.enough(drift_.used(), spent_, [&] {
        model::Timing so_far;
        set_cores(so_far);
        const auto groups = model::work_of(state_.setup).groups;
        return so_far.share_of(model::usable_cores(so_far, groups, state_.record.host.threads)) >=
               model::nearly_all_cores;
    });
}

double Sampling::typical_seconds() const {
    const auto& used = drift_.used();
    return used.empty() || state_.record.status != model::Status::ok ? 0 : summarise(used).median;
}

void Sampling::cut(double fastest_seconds) {
    const auto& used = drift_.used();
    if (cut_ || used.empty()) return;
    const double least = *std::ranges::min_element(used);  // so that one or two disturbed samples cut nothing
    if (least <= 2 * fastest_seconds) return;
    cut_ = true;
    state_.warn(model::Warning::cut, "its first samples took at least " + format_seconds(least) +
                                         ", more than twice the " + format_seconds(fastest_seconds) +
                                         " of the fastest, so sampling stopped");
}

void Sampling::set_cores(model::Timing& timing) const {
    const auto cores = cores_had(shared_);
    timing.cores = cores.had;
    timing.waited = cores.waited;
}

void Sampling::set_batch(unsigned number, const std::string& apart, bool in_turns) {
    batch_ = number;
    in_turns_ = in_turns;
    if (!apart.empty())
        state_.warn(model::Warning::not_in_turns, apart +
                                                      ", so the cells of this comparison were measured in batches; "
                                                      "drift may cause a difference between two batches");
}

void Sampling::conclude() {
    drift_.conclude();
    auto& record = state_.record;
    record.samples = drift_.used();
    record.rounds = drift_.kept_rounds();
    record.aside = drift_.aside();
    record.aside_rounds = drift_.aside_rounds();
    if (record.samples.empty()) return;
    auto timing = to_timing(record.samples);
    timing.per_sample = per_sample_;
    timing.stop_reason = interrupted_ ? "interrupted" : cut_ ? "cut" : stop_.reason();
    timing.clock = state_.subject->event_clock() ? "event" : "host";
    timing.cache = name(state_.settings.cache);
    timing.sets = static_cast<unsigned>(state_.sets);
    timing.batch = batch_;
    timing.references = static_cast<unsigned>(drift_.references());
    timing.reference_spread = drift_.spread();
    timing.settled = settled_;
    set_cores(timing);
    record.time = timing;
    record.work = model::work_of(state_.setup);
}

// The data that an operation in place begins with.
//
// A kernel that sorts, searches or relaxes in place may take another time for data that it has already processed. A
// sample is a row of operations, so the data is tested first. Single operations are timed on the input data, on what
// one operation made of it, and on what many made of it. All of it is written in the same way. If the times agree,
// operations continue from each other's data, but no further than was tested. Otherwise the data is restored before
// each timed operation, outside its time.

void Sampling::begin_operation(unsigned number) {
    auto& subject = *state_.subject;
    // Restore all sets together. They displace each other in the caches, so the first set is not cached when it runs.
    if (state_.fresh_data && number % subject.sets() == 0) subject.restore();
    if (state_.settings.cache == Cache::cold) state_.instruments.flush().run();
}

double Sampling::timed_on_fresh_data(CoreClock::Reading& cores) {
    double sum = 0;
    for (unsigned i = 0; i < per_sample_; ++i) {
        begin_operation(i);
        const auto before = cores_ ? cores_->now() : CoreClock::Reading{};
        sum += state_.subject->timed(1);
        if (cores_) cores = cores + (cores_->now() - before);
    }
    return sum / per_sample_;
}

void Sampling::look_at_data(double operation) {
    auto& subject = *state_.subject;
    const auto& wanted = state_.settings.fresh_data;
    // Simulated times mean nothing here. With two trip counts, a family's operation continues where the previous one
    // ended: it measures the step. Rule 12 of host/README.md checks whether all steps take the same time.
    if (!subject.works_in_place() || state_.setup.slope || state_.settings.one_core ||
        state_.session.facts().implementation == model::Implementation::oclgrind)
        return;
    if (const auto& reset = state_.setup.reset; !reset.empty()) {
        begin_with_fresh_data("cllab restores " + join(reset, ", ") + " before each timed operation, outside its time");
        return;
    }
    const double longest = rules_.sample_most_seconds;
    // The host may not have room for three copies of more data than this.
    constexpr double most_bytes = 1 << 30;
    if (wanted.value_or(operation >= longest || data_bytes(state_.setup) > most_bytes)) {
        begin_with_fresh_data("cllab restores the inputs before each timed operation, outside its time");
        return;
    }
    // One sample, plus the operation before it that prepares the caches.
    const double least = per_sample_ + 1;
    const auto most = static_cast<std::uint64_t>(std::clamp(longest / operation, least, 8 * least));
    if (!state_.setup.observe) reach_ = most;  // observe needs the result of all operations together
    if (wanted) return;
    const auto flush = [&] {
        if (state_.settings.cache == Cache::cold) state_.instruments.flush().run();
    };
    const auto look = [&] {
        const auto start = Clock::now();
        return subject.time_on_data(most, longest, flush, [&](const Subject::OnData& times) {
            return knows_enough(times, seconds_since(start));
        });
    };
    auto found = look();
    const auto differs = [&](const std::vector<double>& processed) {
        return !*same_time(found.original, processed, true);
    };
    // Other load can make times differ by chance, but rarely twice.
    if (found.changed && (differs(found.once) || differs(found.many))) found = look();
    if (!found.changed) {
        reach_ = 0;
        return;
    }
    const bool by_one = differs(found.once);
    if (!by_one && !differs(found.many)) {
        if (subject.sets() == 1) subject.run();  // leaves the caches as an operation does
        if (reach_ > 0) reach_ = std::max<std::uint64_t>(found.operations, 2);
        per_sample_ =
            reach_ > 0 ? static_cast<unsigned>(std::min<std::uint64_t>(per_sample_, reach_ - 1)) : per_sample_;
        return;
    }
    begin_with_fresh_data("an operation took " + format_seconds(summarise(found.original).median) +
                          " on its input data and " +
                          format_seconds(summarise(by_one ? found.once : found.many).median) + " on what " +
                          (by_one ? "one has" : std::to_string(found.operations) + " have") +
                          " made of it, so cllab restores the data before each timed operation, outside its time");
}

bool Sampling::knows_enough(const Subject::OnData& times, double spent) const {
    const auto rounds = times.original.size();
    const auto once = same_time(times.original, times.once, false), many = same_time(times.original, times.many, false);
    if ((once && many) || once == false || many == false || rounds >= rules_.most_data_rounds) return true;
    const double cap = std::max(rules_.sampling_seconds, rules_.sample_most_seconds);
    return (rounds >= rules_.data_rounds && spent > rules_.data_seconds_part * cap) ||
           (rounds >= rules_.fewest_data_rounds && spent > cap);
}

bool Sampling::begin_with_fresh_data(const std::string& why) {
    auto& subject = *state_.subject;
    if (state_.fresh_data || !subject.works_in_place() || state_.setup.slope) return true;
    return state_.guarded([&] {
        const InPhase phase(Phase::warm_up);
        state_.fresh_data = true;
        state_.warn(model::Warning::fresh_data, why);
        reach_ = 0;
        per_sample_ = 1;
        if (state_.settings.cache == Cache::cold) return;
        // Operations timed one by one need several per sample only because of the timer's step. Rotating sets are
        // restored together, so a sample uses each of them.
        const auto start = Clock::now();
        const double operation = std::max(timed(), 1e-9), all = seconds_since(start);
        const auto most = static_cast<unsigned>(std::max(1.0, rules_.sample_most_seconds / all));
        const double step = static_cast<double>(state_.session.timer().step_ns) * 1e-9;
        per_sample_ = std::min(
            std::max(operations_per_sample(operation, step, 0, 0, rules_), static_cast<unsigned>(subject.sets())),
            most);
    });
}

bool Sampling::fills_caches() const {
    constexpr double long_operation = 0.1;  // seconds; caches fill in a small part of it
    const auto& facts = state_.session.facts();
    return in_turns_ && state_.settings.cache == Cache::hot && !state_.fresh_data && !state_.setup.slope &&
           operation_seconds_ < long_operation && facts.implementation != model::Implementation::oclgrind;
}

void Sampling::put_data_back_in_time(unsigned number) {
    auto& subject = *state_.subject;
    if (reach_ == 0) return;
    const auto sets = subject.sets();
    const auto operations = (has_parts() ? 2 : 1) * ((number + sets - 1) / sets);
    if (subject.operations_on_data() + operations <= reach_) return;
    subject.restore();
    if (sets == 1) subject.run();  // not timed: it finds the restored data in the caches
}

// The energy of an operation: power of the idle device, then of a long row of operations, each over several windows.

namespace {

constexpr double windows = least_for_interval;
constexpr double rest_lead = 0.5, rest_window = 0.25, lead = 1, window = 0.5;
constexpr double late = 0.15;  // extra seconds of a window, because it ends when the counter changes

constexpr double seconds_of(double before, double each) { return before + windows * (each + late); }

/// Says what happens between two operations and prevents a row without gaps; empty: nothing.
std::string what_is_between(const CellState& state) {
    if (state.fresh_data) return "the data is restored before each operation, which draws energy, too";
    if (state.settings.cache == Cache::cold)
        return "the caches are flushed before each operation, which draws energy, too";
    return "";
}

}  // namespace

double Sampling::run_row(double seconds) {
    constexpr double batch_seconds = 0.05;  // the device idles for about 0.1 ms between two batches
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
        seconds = record.time->median;  // the row's operations have many steps each
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
