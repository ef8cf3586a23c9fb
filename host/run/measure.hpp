// When to stop, what to report and which samples count: the arithmetic of rules 4 to 7 and 14 (host/README.md). Free of
// OpenCL, so that it is tested alone.
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
    double warm_seconds = 0.1;  ///< minimum for the device
    /// Maximum: a busy host never settles within 1 %, and waiting does not help.
    double warm_cap_seconds = 0.2;
    double cold_after_seconds = 1;  ///< a device idle for so long is warmed up again
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
    unsigned most_waiting = 5120;  ///< while a cell waits for cores
};

/// Rules for cells on the device. GPUs take about 100 ms to raise their clock.
MeasureRules rules_for(const model::Device& device, const Settings& settings);

/// Operations per sample, at least 1: the smallest number that lasts 200 timer steps, 20 empty launches, 200 times the
/// cost of an event, and 100 us. A sample lasts at most 100 ms. All times in seconds, `operation` > 0. `event`: cost of
/// an event if events time only the ends of a sample, else 0.
unsigned operations_per_sample(double operation, double timer_step, double empty_launch, double event,
                               const MeasureRules& rules);

/// True when the medians of the last two windows agree.
bool settled(std::span<const double> launches, const MeasureRules& rules);

/// Decides after each sample whether a cell has enough samples, and keeps the reason.
class StopRule {
public:
    explicit StopRule(const MeasureRules& rules) : rules_(rules) {}
    /// `spent`: seconds that this cell's sampling has taken. `had_its_cores` is called when there may be enough
    /// samples. If it returns false, only the time or most_waiting ends the sampling. True: stop; reason() says why.
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

/// Takes as many samples as the rules require.
Summary sampled(const MeasureRules& rules, const std::function<double()>& sample);

model::Timing to_timing(std::span<const double> samples);

/// True if operations take the same time on processed data as on the inputs, within 5 % beyond the noise. Each round,
/// at least one, gives one time of each. nullopt: more rounds are needed. With `last`, the median decides instead.
std::optional<bool> same_time(std::span<const double> original, std::span<const double> processed, bool last);

enum class Plausible { yes, nothing, no };
/// Whether a time can belong to work that was done. no: zero or below. nothing: the work `may_be_free`, and the time is
/// indistinguishable from zero. If the two times drift apart, the whole interval of their difference may be below zero.
Plausible plausible(const model::Timing& time, bool may_be_free);

/// First words of a record's reason if it is wrong_result because the difference of its two times is impossible. The
/// kernel's output is right.
inline constexpr const char* implausible_step = "the time of a step is ";
/// True if the results are right, but the difference of the two times is below the noise of a short sampling.
bool is_below_noise(const model::Record& record);

/// Says how times at three trip counts deviate from a line; nullopt if they fit. `middle` is at the mean of the two
/// other trip counts. Either it is off by more than 5 % of the growth and the noise, or the time does not grow beyond
/// the noise. A time that does not grow is accepted if the step `may_be_free`. In seconds; equally many times each, at
/// least one, taken in turns.
std::optional<std::string> not_linear(std::span<const double> low, std::span<const double> middle,
                                      std::span<const double> high, bool may_be_free);

/// The samples of one cell, in blocks between reference kernels. A block is set aside if an adjacent reference is more
/// than 10 % off the median of all references so far. If more than three times as many samples would be set aside as
/// remain, the device always drifts like this. Then every sample counts again, and throttled() is true.
class DriftFilter {
public:
    /// `wanted`: minimum number of samples of a cell. While fewer samples remain, the limit of three times uses this
    /// number.
    explicit DriftFilter(unsigned wanted) : wanted_(wanted) {}

    /// Seconds of the reference kernel. Ends a block and begins the next one. Ignored unless > 0.
    void reference(double seconds);
    /// Seconds of one sample, and its round.
    void sample(double seconds, unsigned round);
    /// Counts every sample from now on if any was set aside, because there is no time for others.
    void give_up();
    /// Call after the last reference. As give_up() if less than a quarter of the samples remain.
    void conclude();

    const std::vector<double>& used() const { return used_.seconds; }          ///< in the order taken
    const std::vector<double>& aside() const { return aside_.seconds; }        ///< in the order taken
    const std::vector<unsigned>& kept_rounds() const { return used_.rounds; }  ///< for each of used()
    const std::vector<unsigned>& aside_rounds() const { return aside_.rounds; }
    bool throttled() const { return throttled_; }
    std::size_t references() const { return references_.size(); }
    /// Slowest minus fastest reference next to samples that count, divided by the median; 0 without references.
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
    double median_ = 0;  ///< of references_
    std::vector<Sample> all_;
    struct {
        std::vector<double> seconds;
        std::vector<unsigned> rounds;
    } used_, aside_;
    bool throttled_ = false;
};

}  // namespace cllab::run
