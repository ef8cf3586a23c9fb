// What an operation that works in place begins with.
//
// A kernel that sorts, searches or relaxes where its data lies takes a time of its own for data that it has processed
// already, and samples are rows of operations. So it is looked at first: single operations on the data that goes in, on
// what one made of it and on what many made of it, all of it put there in the same way. Where they take the same time,
// operations go on from each other's data, no further than was looked at. Where they do not, each timed operation
// begins with the data put back, outside of its time.
#include <algorithm>

#include "core/clock.hpp"
#include "core/phases.hpp"
#include "core/stats.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "run/cell/cell_sampling.hpp"

namespace cllab::run {

void Sampling::begin_operation(unsigned number) {
    auto& subject = *state_.subject;
    // The sets together displace the caches, so that the first is not in them when the last was put back.
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
    // A simulator's times are of a simulation. With two trip counts a family's operation goes on from where the one
    // before ended: the step is what it measures, and rule 12 of host/README.md looks whether steps take the same time.
    if (!subject.works_in_place() || state_.setup.slope ||
        state_.session.facts().implementation == model::Implementation::oclgrind)
        return;
    if (const auto& reset = state_.setup.reset; !reset.empty()) {
        begin_with_fresh_data("cllab restores " + join(reset, ", ") + " before each timed operation, outside its time");
        return;
    }
    const double longest = rules_.sample_most_seconds;
    // Three copies of what is written are more than a host may have room for.
    constexpr double most_bytes = 1 << 30;
    if (wanted.value_or(operation >= longest || data_bytes(state_.setup) > most_bytes)) {
        begin_with_fresh_data("cllab restores the inputs before each timed operation, outside its time");
        return;
    }
    // A sample, and the operation before it that brings the caches to their state.
    const double least = per_sample_ + 1;
    const auto most = static_cast<std::uint64_t>(std::clamp(longest / operation, least, 8 * least));
    if (!state_.setup.observe) reach_ = most;  // what the operations build up together is to be seen
    if (wanted) return;
    const auto start = Clock::now();
    const auto flush = [&] {
        if (state_.settings.cache == Cache::cold) state_.instruments.flush().run();
    };
    const auto found = subject.time_on_data(
        most, longest, flush, [&](const Subject::OnData& times) { return knows_enough(times, seconds_since(start)); });
    if (!found.changed) {
        reach_ = 0;
        return;
    }
    const auto differs = [&](const std::vector<double>& processed) {
        return !*same_time(found.fresh, processed, true);
    };
    const bool by_one = differs(found.once);
    if (!by_one && !differs(found.many)) {
        if (subject.sets() == 1) subject.run();  // the caches are as an operation leaves them
        if (reach_ > 0) reach_ = std::max<std::uint64_t>(found.operations, 2);
        per_sample_ =
            reach_ > 0 ? static_cast<unsigned>(std::min<std::uint64_t>(per_sample_, reach_ - 1)) : per_sample_;
        return;
    }
    begin_with_fresh_data("an operation takes " + format_seconds(summarise(found.fresh).median) +
                          " on the data that goes in and " +
                          format_seconds(summarise(by_one ? found.once : found.many).median) + " on what " +
                          (by_one ? "one has" : std::to_string(found.operations) + " have") +
                          " made of it, so cllab restores the data before each timed operation, outside its time");
}

bool Sampling::knows_enough(const Subject::OnData& times, double spent) const {
    const auto rounds = times.fresh.size();
    const auto once = same_time(times.fresh, times.once, false), many = same_time(times.fresh, times.many, false);
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
        // What is timed one by one needs more of them for the timer's step only; those that rotate are put back
        // together.
        const auto start = Clock::now();
        const double operation = std::max(timed(), 1e-9), all = seconds_since(start);
        const auto most = static_cast<unsigned>(std::max(1.0, rules_.sample_most_seconds / all));
        const double step = static_cast<double>(state_.session.timer().step_ns) * 1e-9;
        per_sample_ = std::min(
            std::max(operations_per_sample(operation, step, 0, 0, rules_), static_cast<unsigned>(subject.sets())),
            most);
    });
}

void Sampling::put_data_back_in_time(unsigned number) {
    auto& subject = *state_.subject;
    if (reach_ == 0) return;
    const auto sets = subject.sets();
    const auto operations = (has_parts() ? 2 : 1) * ((number + sets - 1) / sets);
    if (subject.operations_on_data() + operations <= reach_) return;
    subject.restore();
    if (sets == 1) subject.run();  // not timed: what it finds in the caches is what the data was put back with
}

}  // namespace cllab::run
