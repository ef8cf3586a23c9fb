// Functions for the conclusions from a probe's curves.
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

/// A number for people: whole numbers in full, others with six digits.
inline std::string text_of(double value) {
    if (std::abs(value) < 1e15 && value == std::floor(value)) return std::to_string(std::llround(value));
    return format_general(value, 6);
}

/// A percentage with one decimal.
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

/// Whether the curve has the axis, fixed at another value than `usual`.
inline bool is_fixed_elsewhere(const Curve& curve, const char* axis, const char* usual) {
    return curve.fixed.has(axis) && curve.fixed.text(axis) != usual;
}

/// A sample with its curve, which has the other axes.
struct Row {
    const Curve* curve;
    const Curve::Sample* sample;
};

/// All samples of a variant.
inline std::vector<Row> rows_of(const std::vector<Curve>& curves, const std::string& variant) {
    std::vector<Row> out;
    for (const auto& curve : curves) {
        if (curve.variant != variant) continue;
        for (const auto& sample : curve.samples) out.push_back({&curve, &sample});
    }
    return out;
}

/// The samples with the smallest and the largest seconds per step; at least one sample.
inline std::pair<const Curve::Sample&, const Curve::Sample&> extremes(const std::vector<Curve::Sample>& samples) {
    const auto [fastest, slowest] = std::ranges::minmax_element(samples, {}, &Curve::Sample::per_step);
    return {*fastest, *slowest};
}

/// Seconds of the fastest operation.
inline double least_seconds(const Curve& curve) {
    return std::ranges::min(curve.samples, {}, &Curve::Sample::seconds).seconds;
}

/// A metric of the sample; nullopt if it is missing.
inline std::optional<double> metric(const Curve::Sample& sample, const std::string& name) {
    const auto found = sample.metrics.find(name);
    if (found == sample.metrics.end()) return std::nullopt;
    return found->second;
}

/// The ratio by which two levels of a curve must differ, for find_plateaus(). It is 1 + `least` on a quiet device (0.05
/// is 5 %), and more if the intervals are wider.
inline double tolerance(const Curve& curve, double least) {
    const auto widths = mapped(curve.samples, [](const auto& s) { return (s.high - s.low) / s.per_step; });
    return widths.empty() ? 1 + least : 1 + std::clamp(summarise(widths).median, least, 0.25);
}

/// Converts a time of the sample's interval to seconds per step. Cells with a Slope already have such times; others are
/// timed per operation.
inline double per_step(const Curve::Sample& s, double seconds) {
    return s.seconds > 0 ? seconds * s.per_step / s.seconds : seconds;
}

/// A figure that the evidence does not allow, with the reason.
inline Finding withheld(const std::string& id, const std::string& name, const std::string& why) {
    return {id, name, "", 0, 0, 0, "", why};
}

/// A sample's seconds per step with its interval.
inline Finding step_finding(const std::string& id, const std::string& name, const Curve::Sample& s,
                            const std::string& how) {
    return {id, name, "s", s.per_step, per_step(s, s.low), per_step(s, s.high), how};
}

/// Seconds that each of `steps` further steps adds from `a` to `b`. low and high are the extremes that both intervals
/// allow.
inline Finding added_finding(const std::string& id, const std::string& name, const Curve::Sample& a,
                             const Curve::Sample& b, double steps, const std::string& how) {
    return {
        id, name, "s", (b.seconds - a.seconds) / steps, std::max(0.0, b.low - a.high) / steps, (b.high - a.low) / steps,
        how};
}

/// `amount` per step as a rate. The ends of the interval swap.
inline Finding rate_finding(const std::string& id, const std::string& name, const std::string& unit,
                            const Curve::Sample& s, double amount, const std::string& how) {
    if (!(per_step(s, s.low) > 0))
        return withheld(id, name,
                        "the interval of its time begins at zero: its work is lost in the spread of the launches");
    const auto rate = [&](double seconds) { return amount / seconds; };
    return {id, name, unit, rate(s.per_step), rate(per_step(s, s.high)), rate(per_step(s, s.low)), how};
}

/// Instructions per operation in the code that ran: ", through 7.2 instructions each". `operations`: per trip of the
/// loop. `besides`: instructions per operation for other work. Empty below 1.5 instructions, or if they were not
/// counted.
inline std::string through(const Curve::Sample& s, double operations, double besides = 0) {
    const double each = metric(s, "loop_instructions").value_or(0) / operations - besides;
    return each >= 1.5 ? ", through " + format_general(each, 2) + " instructions each" : "";
}

/// A figure without an interval.
inline Finding figure(const std::string& id, const std::string& name, const std::string& unit, double value,
                      const std::string& how) {
    return {id, name, unit, value, value, value, how};
}

/// The result of a fit, with its interval.
inline Finding figure(const std::string& id, const std::string& name, const std::string& unit, const Estimate& found,
                      const std::string& how) {
    return {id, name, unit, found.value, found.low, found.high, how};
}

/// Ratio of the seconds per step of two samples.
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

/// Applies `conclude` to each curve with samples, and collects the findings. For families whose curves are independent
/// of each other.
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

/// Work-groups of fma for a load in percent of the compute units that the driver reports; at least one.
std::size_t groups_for(double load_percent, const Device& device);
/// The findings of fma: latencies (in cycles if the clock is known), peak rates, cost of loops and instruction fetch,
/// compute units. Each is a figure, or withheld with the reason.
std::vector<Finding> fma_findings(const std::vector<Curve>& curves, const Device& device);

/// Share of the device's cores that the sample had; 1 if it is unknown, and for devices that are not CPUs.
inline double share_of_cores(const Curve::Sample& s, const Device& device) {
    if (!device.is_cpu()) return 1;
    Timing time;
    time.cores = metric(s, "cores").value_or(0);
    time.waited = metric(s, "cores_waited").value_or(0);
    return time.share_of(device.compute_units);
}

/// The `rate` of the sample, per second, extrapolated from the cores that it had to all cores.
inline double rate_of_all_cores(double rate, const Curve::Sample& s, const Device& device) {
    return rate / share_of_cores(s, device);
}

/// The same for the slow end of the sample's interval. Use this to choose the best of several samples, because the
/// fastest time of a disturbed sample may be anything.
inline double sure_rate_of_all_cores(double rate, const Curve::Sample& s, const Device& device) {
    return s.high > 0 ? rate_of_all_cores(rate, s, device) * s.seconds / s.high : 0;
}

}  // namespace cllab::model::lib
