#include "run/cell/cell_sampling.hpp"

#include <algorithm>

#include "core/clock.hpp"
#include "model/rankable.hpp"
#include "model/work.hpp"
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
    // Of a step the second run counts less the first, as its time does.
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
        subject.timed(1);  // what the driver compiles at the first launch of a local size is behind it
        const double one = std::max(subject.timed(1), 1e-9);
        // One very short launch is mostly chance: what a sample needs is found from as many as last some 100 us.
        const unsigned handful = operations_per_sample(one, 0, 0, 0, rules_);
        const double operation =
            handful == 1 ? one : std::max(std::min({one, subject.timed(handful), subject.timed(handful)}), 1e-9);
        per_sample_ = operations_per_sample(operation, static_cast<double>(audit.step_ns) * 1e-9, audit.empty_seconds,
                                            subject.is_row() ? audit.event_seconds : 0, rules_);
        if (state_.settings.cache == Cache::cold) per_sample_ = 1;  // the second would find what the first brought
        look_at_data(operation);
    });
}

void Sampling::check_outputs() {
    auto& subject = *state_.subject;
    if (!state_.proved(subject.check_left())) return;
    subject.poison();
    subject.run();  // not timed: what it finds in the caches is the poison
    // The next time at a sample that no kernel can foresee, once before each doubling of the samples.
    const auto from = check_before_;
    check_before_ = std::max(rules_.first_check, 2 * from);
    next_check_ = from + static_cast<unsigned>(random_.below(check_before_ - from));
}

bool Sampling::sample(unsigned round) {
    state_.guarded([&] {
        if (samples_ == next_check_) check_outputs();
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
        // Of a GPU the host's threads do not compute, and of a native loop the one that asks does too.
        if (!cores_ && state_.session.facts().is_cpu() && !state_.record.native) cores_.emplace();
        put_data_back_in_time(per_sample_);
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
    if (state_.record.status != model::Status::ok) return false;
    const auto taken = drift_.kept().size() + drift_.aside().size();
    // Like the samples, the time for those set aside is at most three times what the others may take.
    if (taken > 0 &&
        spent_ * static_cast<double>(drift_.aside().size()) / static_cast<double>(taken) > 3 * rules_.sampling_seconds)
        drift_.give_up();
    return !stop_.enough(drift_.kept(), spent_, [&] {
        model::Timing so_far;
        set_cores(so_far);
        const auto groups = model::work_of(state_.setup).groups;
        return so_far.share_of(model::usable_cores(so_far, groups, state_.record.host.threads)) >=
               model::nearly_all_cores;
    });
}

void Sampling::set_cores(model::Timing& timing) const {
    const auto cores = cores_had(shared_);
    timing.cores = cores.had;
    timing.waited = cores.waited;
}

void Sampling::set_batch(unsigned number, const std::string& apart) {
    batch_ = number;
    if (!apart.empty())
        state_.warn(model::Warning::not_in_turns, apart +
                                                      ", so the cells of this comparison were measured in batches; "
                                                      "drift may cause a difference between two batches");
}

void Sampling::conclude() {
    drift_.conclude();
    auto& record = state_.record;
    record.samples = drift_.kept();
    record.rounds = drift_.kept_rounds();
    record.aside = drift_.aside();
    record.aside_rounds = drift_.aside_rounds();
    if (record.samples.empty()) return;
    auto timing = to_timing(record.samples);
    timing.per_sample = per_sample_;
    timing.stop_reason = interrupted_ ? "interrupted" : stop_.reason();
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

}  // namespace cllab::run
