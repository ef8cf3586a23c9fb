// When to stop, what to report and which samples count: the arithmetic of rules 4 to 7 and 14 (host/README.md), free of
// OpenCL to be tested alone.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/stats.hpp"
#include "model/result.hpp"
#include "run/request.hpp"

namespace cllab::run {

struct MeasureRules {
    double warm_seconds = 0.1;  ///< of the device at least this long
    /// At most this long: a busy host never settles within 1 %, and waiting does not help it.
    double warm_cap_seconds = 0.2;
    double cold_after_seconds = 1;  ///< a device that did nothing for so long is warmed up again
    unsigned window = 8;            ///< launches of a warm-up window
    double settled_within = 0.01;   ///< medians of the last two windows agree within this
    double sample_least_seconds = 100e-6;
    double sample_most_seconds = 100e-3;
    double sampling_seconds = 0.4;  ///< cap of the sampling of one cell
    double precise_within = 0.01;   ///< half-width of the interval over the median
    unsigned first_check = 20, last_check = 320;
    /// Rounds that test whether earlier operations on the data change the time. The test ends after six rounds once a
    /// quarter of the sampling time is spent, or after three once all of it is.
    unsigned fewest_data_rounds = 3, data_rounds = 6, most_data_rounds = 32;
    double data_seconds_part = 0.25;
    unsigned most_waiting = 5120;  ///< samples of a cell that waits for cores
};

/// Rules for cells on the device. GPUs raise their clock over some 100 ms.
MeasureRules rules_for(const model::Device& device, const Settings& settings);

/// Operations in one sample: the smallest k for which k operations last at least 200 timer steps, 20 empty launches,
/// 200 times what an event costs and 100 us, but no longer than 100 ms; at least 1. All times in seconds, `operation` >
/// 0. `event`: of operations that an event at either end of a sample times, zero of others.
unsigned operations_per_sample(double operation, double timer_step, double empty_launch, double event,
                               const MeasureRules& rules);

/// True when the medians of the last two windows agree.
bool settled(std::span<const double> launches, const MeasureRules& rules);

/// Decides after each sample whether a cell has enough; keeps what it decided.
class StopRule {
public:
    explicit StopRule(const MeasureRules& rules) : rules_(rules) {}
    /// `spent`: seconds this cell's sampling has taken. `had_its_cores` is asked when there may be enough: while others
    /// have them, only the time ends the sampling, or most_waiting. True: stop, and reason() says why.
    bool enough(
        std::span<const double> samples, double spent,
        const std::function<bool()>& had_its_cores = [] { return true; });
    const std::string& reason() const { return reason_; }

private:
    MeasureRules rules_;
    unsigned next_check_ = 0;
    double last_half_width_ = 0;
    std::string reason_;
};

/// Of as many calls of `sample` as these rules ask for.
Summary sampled(const MeasureRules& rules, const std::function<double()>& sample);

model::Timing to_timing(std::span<const double> samples);

/// Whether operations take the same time on processed data as on the inputs, within 5 % beyond the noise. The times
/// come from rounds of one of each, at least one round. Nothing: more rounds are needed; never with `last`, which
/// decides by the median.
std::optional<bool> same_time(std::span<const double> fresh, std::span<const double> processed, bool last);

enum class Plausible { yes, nothing, no };
/// Whether a time can be that of work which was done: no, when it is zero or below; nothing, when the work
/// `may_be_free` and its time is not told from zero. The difference of two times that drift apart may lie below zero
/// with its whole interval.
Plausible plausible(const model::Timing& time, bool may_be_free);

/// How the reason of a record begins that is wrong_result because the difference of its two times cannot be: no
/// kernel's output is wrong.
inline constexpr const char* implausible_step = "the time of a step is ";
/// The results are right, but the difference of the two times is below the noise of a short sampling.
bool is_below_noise(const model::Record& record);

/// Says how times at three trip counts, the second halfway, depart from a line; nothing when they fit. Either the
/// middle is off by more than 5 % of the growth and the noise, or the time does not grow beyond the noise (unless it
/// `may_be_free`). Seconds; equally many times each, at least one, taken in turns.
std::optional<std::string> not_linear(std::span<const double> low, std::span<const double> middle,
                                      std::span<const double> high, bool may_be_free);

/// The samples of one cell in blocks between references. A block beside a reference more than 10 % off the median of
/// all references so far is set aside. When that would cost more than three times the samples that remain, the drift is
/// what the device does all the time: every sample counts again and throttled() says so.
class DriftFilter {
public:
    /// `wanted`: samples a cell needs at least; as many count as remaining when there are fewer yet.
    explicit DriftFilter(unsigned wanted) : wanted_(wanted) {}

    /// Seconds of the reference kernel, > 0: ends the block before it and begins the next.
    void reference(double seconds);
    /// Seconds of one sample, and the round it was taken in.
    void sample(double seconds, unsigned round);
    /// Counts every sample from now on if any was set aside: there is no time to take others.
    void give_up();
    /// After the last reference: as give_up() when less than a quarter of the samples is left.
    void conclude();

    const std::vector<double>& kept() const { return kept_.seconds; }          ///< in the order taken
    const std::vector<double>& aside() const { return aside_.seconds; }        ///< likewise
    const std::vector<unsigned>& kept_rounds() const { return kept_.rounds; }  ///< of each of kept()
    const std::vector<unsigned>& aside_rounds() const { return aside_.rounds; }
    bool throttled() const { return throttled_; }
    std::size_t references() const { return references_.size(); }
    /// Slowest less fastest reference beside samples that count, over the median; 0 without references.
    double spread() const;

private:
    struct Sample {
        double seconds;
        unsigned round;
        std::size_t block;  ///< references taken before it
    };
    bool steady(std::size_t block) const;
    bool is_off(double reference) const;
    void put(const Sample& sample, bool fine);
    void sort_out();

    unsigned wanted_;
    std::vector<double> references_;
    double median_ = 0;  ///< of them
    std::vector<Sample> all_;
    struct {
        std::vector<double> seconds;
        std::vector<unsigned> rounds;
    } kept_, aside_;
    bool throttled_ = false;
};

}  // namespace cllab::run
