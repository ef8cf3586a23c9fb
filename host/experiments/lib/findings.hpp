// From the curves of a probe to what it concludes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "core/stats.hpp"
#include "model/experiment.hpp"

namespace cllab::model::lib {

/// A number as a person writes it: whole numbers in full, others with six digits.
inline std::string text_of(double value) {
    if (std::abs(value) < 1e15 && value == std::floor(value)) return std::to_string(std::llround(value));
    char out[32];
    std::snprintf(out, sizeof out, "%g", value);
    return out;
}

inline const Curve* curve_of(const std::vector<Curve>& curves, const std::string& variant) {
    const auto found = std::find_if(curves.begin(), curves.end(), [&](const auto& c) { return c.variant == variant; });
    return found == curves.end() ? nullptr : &*found;
}

inline std::vector<double> xs(const Curve& curve) {
    std::vector<double> out;
    for (const auto& s : curve.samples) out.push_back(s.x);
    return out;
}

/// Seconds per step of each sample.
inline std::vector<double> steps(const Curve& curve) {
    std::vector<double> out;
    for (const auto& s : curve.samples) out.push_back(s.per_step);
    return out;
}

inline const Curve::Sample* sample_at(const Curve& curve, double x) {
    const auto found =
        std::find_if(curve.samples.begin(), curve.samples.end(), [&](const auto& s) { return s.x == x; });
    return found == curve.samples.end() ? nullptr : &*found;
}

/// The metric of a sample, or nothing.
inline std::optional<double> metric(const Curve::Sample& sample, const std::string& name) {
    const auto found = sample.metrics.find(name);
    if (found == sample.metrics.end()) return std::nullopt;
    return found->second;
}

/// Two levels of a curve differ only by more than its noise: `least` on a quiet device (0.05 is 5 %), more where the
/// intervals are wider. For PlateauOptions::tolerance.
inline double tolerance(const Curve& curve, double least) {
    std::vector<double> widths;
    for (const auto& s : curve.samples) widths.push_back((s.high - s.low) / s.per_step);
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

/// `amount` per step as a rate; the ends of the interval change places.
inline Finding rate_finding(const std::string& id, const std::string& name, const std::string& unit,
                            const Curve::Sample& s, double amount, const std::string& how) {
    if (!(per_step(s, s.low) > 0))
        return withheld(id, name,
                        "the interval of its time begins at zero: its work is lost in the spread of the launches");
    const auto rate = [&](double seconds) { return amount / seconds; };
    return {id, name, unit, rate(s.per_step), rate(per_step(s, s.high)), rate(per_step(s, s.low)), how};
}

}  // namespace cllab::model::lib
