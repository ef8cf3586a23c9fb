// From the curves of a probe to what it concludes.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/grouped.hpp"
#include "core/stats.hpp"
#include "core/units.hpp"
#include "experiments/lib/fit.hpp"
#include "model/params.hpp"
#include "model/result.hpp"

namespace cllab::model::lib {

/// A number as a person writes it: whole numbers in full, others with six digits.
inline std::string text_of(double value) {
    if (std::abs(value) < 1e15 && value == std::floor(value)) return std::to_string(std::llround(value));
    return format_general(value, 6);
}

/// A percentage of one decimal.
inline std::string percent(double part) { return text_of(std::round(1000 * part) / 10) + " %"; }

inline std::string bytes_text(double bytes) { return format_bytes(static_cast<std::uint64_t>(bytes)); }

inline const Curve* curve_of(const std::vector<Curve>& curves, const std::string& variant) {
    const auto found = std::ranges::find(curves, variant, &Curve::variant);
    return found == curves.end() ? nullptr : &*found;
}

inline std::vector<double> xs(const Curve& curve) { return mapped(curve.samples, &Curve::Sample::x); }

/// Seconds per step of each sample.
inline std::vector<double> steps(const Curve& curve) { return mapped(curve.samples, &Curve::Sample::per_step); }

inline const Curve::Sample* sample_at(const Curve& curve, double x) {
    const auto found = std::ranges::find(curve.samples, x, &Curve::Sample::x);
    return found == curve.samples.end() ? nullptr : &*found;
}

/// Whether an axis that the curve has is fixed at another value.
inline bool is_fixed_elsewhere(const Curve& curve, const char* axis, const char* usual) {
    return curve.fixed.has(axis) && curve.fixed.text(axis) != usual;
}

/// A sample with the whole point it was taken at.
struct Row {
    const Curve* curve;
    const Curve::Sample* sample;
};

/// Every sample of a variant.
inline std::vector<Row> rows_of(const std::vector<Curve>& curves, const std::string& variant) {
    std::vector<Row> out;
    for (const auto& curve : curves) {
        if (curve.variant != variant) continue;
        for (const auto& sample : curve.samples) out.push_back({&curve, &sample});
    }
    return out;
}

/// The samples with the least and the most seconds per step of at least one.
inline std::pair<const Curve::Sample&, const Curve::Sample&> extremes(const std::vector<Curve::Sample>& samples) {
    const auto [fastest, slowest] = std::ranges::minmax_element(samples, {}, &Curve::Sample::per_step);
    return {*fastest, *slowest};
}

/// Seconds of the fastest operation.
inline double least_seconds(const Curve& curve) {
    return std::ranges::min(curve.samples, {}, &Curve::Sample::seconds).seconds;
}

/// The metric of a sample, or nothing.
inline std::optional<double> metric(const Curve::Sample& sample, const std::string& name) {
    const auto found = sample.metrics.find(name);
    if (found == sample.metrics.end()) return std::nullopt;
    return found->second;
}

/// Two levels of a curve differ only by more than its noise: `least` on a quiet device (0.05 is 5 %), more where the
/// intervals are wider. For find_plateaus().
inline double tolerance(const Curve& curve, double least) {
    const auto widths = mapped(curve.samples, [](const auto& s) { return (s.high - s.low) / s.per_step; });
    return widths.empty() ? 1 + least : 1 + std::clamp(summarise(widths).median, least, 0.25);
}

/// A time of the sample's interval as seconds per step. Cells with a Slope are timed in these; others by the operation.
inline double per_step(const Curve::Sample& s, double seconds) {
    return s.seconds > 0 ? seconds * s.per_step / s.seconds : seconds;
}

/// A figure that the evidence does not allow, and why.
inline Finding withheld(const std::string& id, const std::string& name, const std::string& why) {
    return {id, name, "", 0, 0, 0, "", why};
}

/// A sample's seconds per step with its interval.
inline Finding step_finding(const std::string& id, const std::string& name, const Curve::Sample& s,
                            const std::string& how) {
    return {id, name, "s", s.per_step, per_step(s, s.low), per_step(s, s.high), how};
}

/// Seconds that each of `steps` steps more adds from `a` to `b`, at the least and the most that both intervals allow.
inline Finding added_finding(const std::string& id, const std::string& name, const Curve::Sample& a,
                             const Curve::Sample& b, double steps, const std::string& how) {
    return {
        id, name, "s", (b.seconds - a.seconds) / steps, std::max(0.0, b.low - a.high) / steps, (b.high - a.low) / steps,
        how};
}

/// `amount` per step as a rate; the ends of the interval change places.
inline Finding rate_finding(const std::string& id, const std::string& name, const std::string& unit,
                            const Curve::Sample& s, double amount, const std::string& how) {
    if (!(per_step(s, s.low) > 0))
        return withheld(id, name,
                        "the interval of its time begins at zero: its work is lost in the spread of the launches");
    const auto rate = [&](double seconds) { return amount / seconds; };
    return {id, name, unit, rate(s.per_step), rate(per_step(s, s.high)), rate(per_step(s, s.low)), how};
}

/// How many instructions the code that ran has for each of the `operations` in a trip of its loop, less `besides` for
/// other work: ", through 7.2 instructions each". Nothing where it is hardly more than one, or was not counted.
inline std::string through(const Curve::Sample& s, double operations, double besides = 0) {
    const double each = metric(s, "loop_instructions").value_or(0) / operations - besides;
    return each >= 1.5 ? ", through " + format_general(each, 2) + " instructions each" : "";
}

/// A figure without an interval.
inline Finding figure(const std::string& id, const std::string& name, const std::string& unit, double value,
                      const std::string& how) {
    return {id, name, unit, value, value, value, how};
}

/// What a fit found, with its interval.
inline Finding figure(const std::string& id, const std::string& name, const std::string& unit, const Estimate& found,
                      const std::string& how) {
    return {id, name, unit, found.value, found.low, found.high, how};
}

/// How many times as long a step of one sample takes as one of the other.
inline Finding ratio_finding(const std::string& id, const std::string& name, const Curve::Sample& above,
                             const Curve::Sample& below, const std::string& how) {
    return {id,
            name,
            "x",
            above.per_step / below.per_step,
            per_step(above, above.low) / per_step(below, below.high),
            per_step(above, above.high) / per_step(below, below.low),
            how};
}

/// The axis that a family's curves lie over (Experiment::curve_over), and what is concluded of all of them.
/// What is found in all curves, where each says something by itself.
inline auto of_each(void (*conclude)(const Curve&, const Device&, std::vector<Finding>&)) {
    return [conclude](const std::vector<Curve>& curves, const Device& device) {
        std::vector<Finding> found;
        for (const auto& curve : curves)
            if (!curve.samples.empty()) conclude(curve, device, found);
        return found;
    };
}

inline void append(std::vector<Finding>& out, std::vector<Finding> more) {
    for (auto& finding : more) out.push_back(std::move(finding));
}

/// Work-groups of fma for a load in percent of the compute units that the driver reports, at least one.
std::size_t groups_for(double load_percent, const Device& device);
/// What the curves of fma say: latencies, in cycles where the clock is known, peak rates, loop and fetch cost, compute
/// units: each a figure or withheld with the reason.
std::vector<Finding> fma_findings(const std::vector<Curve>& curves, const Device& device);

/// Part of the device's cores that the sample had; 1 where that is not known, and of all that is no CPU.
inline double share_of_cores(const Curve::Sample& s, const Device& device) {
    if (!device.is_cpu()) return 1;
    Timing time;
    time.cores = metric(s, "cores").value_or(0);
    time.waited = metric(s, "cores_waited").value_or(0);
    return time.share_of(device.compute_units);
}

/// `rate` of the sample, per second, as that of all cores: by what those did that the sample had.
inline double rate_of_all_cores(double rate, const Curve::Sample& s, const Device& device) {
    return rate / share_of_cores(s, device);
}

/// The same at the slow end of the sample's interval, which is what chooses the best of several: the fastest time of a
/// disturbed one may be any.
inline double sure_rate_of_all_cores(double rate, const Curve::Sample& s, const Device& device) {
    return s.high > 0 ? rate_of_all_cores(rate, s, device) * s.seconds / s.high : 0;
}

}  // namespace cllab::model::lib
