#include "run/measure.hpp"

#include <algorithm>
#include <cmath>

#include "core/clock.hpp"
#include "core/units.hpp"

namespace cllab::run {
namespace {

constexpr double steady_within = 0.10;
constexpr std::size_t most_aside = 3;  // times the samples that remain

}  // namespace

MeasureRules rules_for(const model::Device& device, const Settings& settings) {
    MeasureRules rules;
    if (device.is_gpu()) {
        rules.warm_seconds = 0.25;
        rules.warm_cap_seconds = 1;
    }
    if (settings.warm_seconds > 0) {
        rules.warm_seconds = settings.warm_seconds;
        rules.warm_cap_seconds = 4 * settings.warm_seconds;
    }
    rules.sampling_seconds = settings.sampling_seconds;
    return rules;
}

unsigned operations_per_sample(double operation, double timer_step, double empty_launch, double event,
                               const MeasureRules& rules) {
    const double wanted = std::max({200 * timer_step, 20 * empty_launch, 200 * event, rules.sample_least_seconds});
    // Slightly less, so that rounding does not turn 100 us over 1 us into 101.
    const double least = std::ceil(wanted / operation * (1 - 1e-9)),
                 most = std::floor(rules.sample_most_seconds / operation);
    return static_cast<unsigned>(std::clamp(std::min(least, most), 1.0, 1e6));
}

bool settled(std::span<const double> launches, const MeasureRules& rules) {
    if (launches.size() < 2 * rules.window) return false;
    const auto last = summarise(launches.last(rules.window)).median;
    const auto before = summarise(launches.last(2 * rules.window).first(rules.window)).median;
    return std::abs(last - before) <= rules.settled_within * before;
}

bool StopRule::enough(std::span<const double> samples, double spent, const std::function<bool()>& had_its_cores) {
    const auto stop = [&](const char* why) {
        reason_ = why;
        return true;
    };
    const auto n = static_cast<unsigned>(samples.size());
    if (next_check_ == 0) next_check_ = rules_.first_check;
    if (n >= next_check_) {
        const bool undisturbed = had_its_cores();
        const double half_width = relative_half_width(summarise(samples));
        if (undisturbed && half_width <= rules_.precise_within) return stop("precise");
        // Twice the samples should narrow the interval to about 0.7. If it stays as wide, more samples cannot reduce
        // the noise.
        if (undisturbed && next_check_ > rules_.first_check && half_width > 0.9 * last_half_width_)
            return stop("noise-floor");
        if (n >= (undisturbed ? rules_.last_check : rules_.most_waiting)) return stop("cap");
        last_half_width_ = half_width;
        next_check_ *= 2;
    }
    // Take enough samples for an interval, unless one sample alone is very long.
    const unsigned least = n > 0 && spent / n > 1 ? 3 : least_for_interval;
    return spent >= rules_.sampling_seconds && n >= least && stop("timeout");
}

Summary sampled(const MeasureRules& rules, const std::function<double()>& sample) {
    StopRule stop(rules);
    std::vector<double> samples;
    const auto start = Clock::now();
    do samples.push_back(sample());
    while (!stop.enough(samples, seconds_since(start)));
    return summarise(samples);
}

model::Timing to_timing(std::span<const double> samples) {
    const auto s = summarise(samples);
    return {
        .median = s.median, .low = s.low, .high = s.high, .min = s.min, .q1 = s.q1, .q3 = s.q3, .mad = s.mad, .n = s.n};
}

std::optional<bool> same_time(std::span<const double> original, std::span<const double> processed, bool last) {
    const double clearly = std::log(1.03), noticeable = std::log(1.05), at_once = std::log(1.5);
    constexpr std::size_t few = 3;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < original.size(); ++i)
        ratios.push_back(std::log(std::max(original[i], 1e-12) / std::max(processed[i], 1e-12)));
    const auto s = summarise(ratios);
    const auto beyond = [&](double limit) { return s.low > limit || s.high < -limit; };
    if (s.n >= few && (beyond(at_once) || (s.n >= least_for_interval && beyond(clearly)))) return false;
    if (s.n >= few && s.low > -noticeable && s.high < noticeable) return true;
    if (last) return std::abs(s.median) <= noticeable || !beyond(0);
    return std::nullopt;
}

Plausible plausible(const model::Timing& time, bool may_be_free) {
    if (std::isfinite(time.median) && may_be_free && time.low <= 0) return Plausible::nothing;
    return std::isfinite(time.median) && time.median > 0 ? Plausible::yes : Plausible::no;
}

bool is_below_noise(const model::Record& record) {
    return record.status == model::Status::wrong_result && record.reason.starts_with(implausible_step);
}

std::optional<std::string> not_linear(std::span<const double> low, std::span<const double> middle,
                                      std::span<const double> high, bool may_be_free) {
    std::vector<double> growth, off;
    for (std::size_t i = 0; i < low.size(); ++i) {
        growth.push_back(high[i] - low[i]);
        off.push_back(middle[i] - (low[i] + high[i]) / 2);
    }
    const auto grows = summarise(growth), apart = summarise(off);
    // One disturbed round must not hide the growth of the others.
    if (grows.q1 <= 0) {
        if (may_be_free) return std::nullopt;
        return "the time does not grow with the trip count beyond the noise";
    }
    // The whole interval must be outside the allowed range.
    const double allowed = 0.05 * grows.median;
    if (apart.low <= allowed && apart.high >= -allowed) return std::nullopt;
    return "halfway between two trip counts the time is " +
           format_significant(100 * std::abs(apart.median) / grows.median, 2) + " % of their difference " +
           (apart.median > 0 ? "above" : "below") + " the line";
}

bool DriftFilter::is_off(double reference) const { return std::abs(reference - median_) > steady_within * median_; }

double DriftFilter::spread() const {
    double least = median_, most = median_;
    for (const double reference : references_) {
        if (!throttled_ && is_off(reference)) continue;
        least = std::min(least, reference);
        most = std::max(most, reference);
    }
    return median_ > 0 ? (most - least) / median_ : 0;
}

bool DriftFilter::steady(std::size_t block) const {
    const auto off = [&](std::size_t i) { return i < references_.size() && is_off(references_[i]); };
    return !(block > 0 && off(block - 1)) && !off(block);
}

void DriftFilter::put(const Sample& sample, bool fine) {
    auto& of = fine ? used_ : aside_;
    of.seconds.push_back(sample.seconds);
    of.rounds.push_back(sample.round);
}

void DriftFilter::sort_out() {
    used_ = aside_ = {};
    // The samples of a block are adjacent: judge each block once.
    std::size_t judged = references_.size() + 1;
    bool fine = true;
    for (const auto& s : all_) {
        if (s.block != judged) fine = throttled_ || references_.empty() || steady(judged = s.block);
        put(s, fine);
    }
}

void DriftFilter::reference(double seconds) {
    if (seconds <= 0) return;  // the launch failed, or ended within a step of the clock
    references_.push_back(seconds);
    median_ = median_of(references_);
    sort_out();
    if (aside().size() > most_aside * std::max<std::size_t>(used().size(), wanted_)) give_up();
}

void DriftFilter::sample(double seconds, unsigned round) {
    const auto block = references_.size();
    all_.push_back({seconds, round, block});
    put(all_.back(), throttled_ || references_.empty() || steady(block));
}

void DriftFilter::give_up() {
    if (aside().empty()) return;
    throttled_ = true;
    sort_out();
}

void DriftFilter::conclude() {
    if (aside().size() > most_aside * used().size()) give_up();
}

}  // namespace cllab::run
