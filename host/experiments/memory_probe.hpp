// What the memory probes share: sizes from device facts, random visiting orders, and findings from curves.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "core/stats.hpp"
#include "core/units.hpp"
#include "model/experiment.hpp"

namespace cllab::model::memory_probe {

inline bool is_simulator(const Device& device) { return device.implementation == Implementation::oclgrind; }

/// Work-items that a GPU issues together, as the driver says it, else the vendor's usual number.
inline std::uint32_t wave_width(const Device& device) {
    if (device.preferred_multiple > 0) return device.preferred_multiple;
    return device.implementation == Implementation::amd ? 64 : 32;
}

/// Bytes that no cache holds. A CPU's last level is known, a GPU's is an upper guess that is already twice too large.
inline std::uint64_t beyond_caches(const Device& device) { return (device.is_gpu() ? 2 : 4) * device.last_level_bytes; }

/// Throws Unsupported when one buffer of this size cannot be had.
inline void require_room(const Device& device, std::uint64_t bytes) {
    if (device.max_alloc_bytes > 0 && bytes > device.max_alloc_bytes)
        throw Unsupported("it needs a buffer of " + format_bytes(bytes) + "; the device allocates at most " +
                          format_bytes(device.max_alloc_bytes));
}

/// Throws Error(usage) unless the axis' value is a multiple of `step`.
inline void require_multiple(const Point& point, const std::string& axis, std::int64_t step) {
    if (point.is_auto(axis) || point.integer(axis) % step == 0) return;
    throw Error(Blame::usage,
                "axis '" + axis + "' is " + point.text(axis) + "; it must be a multiple of " + std::to_string(step));
}

/// Throws Error(usage) unless the axis' value is a power of two.
inline void require_power(const Point& point, const std::string& axis) {
    const auto n = point.integer(axis);
    if (n < 1 || (n & (n - 1)) != 0)
        throw Error(Blame::usage, "axis '" + axis + "' is " + point.text(axis) + "; it must be a power of two");
}

/// Type that holds an address of local memory: four bytes where the instruction set has it so, else a whole pointer.
inline bool short_local_address(const Device& device) {
    return device.implementation == Implementation::nvidia || device.implementation == Implementation::amd;
}

/// 0 .. count-1 in random order. Visited cyclically this is one cycle through all, uniformly drawn among all such cycles.
inline std::vector<std::uint32_t> random_order(std::size_t count, std::uint64_t seed) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0u);
    Random random(seed);
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    return order;
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

inline std::vector<double> steps(const Curve& curve) {
    std::vector<double> out;
    for (const auto& s : curve.samples) out.push_back(s.per_step);
    return out;
}

inline const Curve::Sample* sample_at(const Curve& curve, double x) {
    const auto found = std::find_if(curve.samples.begin(), curve.samples.end(), [&](const auto& s) { return s.x == x; });
    return found == curve.samples.end() ? nullptr : &*found;
}

/// Two levels of a curve can only be told apart by more than its noise: `least` on a quiet device (0.05 is 5 %), more where
/// the intervals are wider. For PlateauOptions::tolerance.
inline double tolerance(const Curve& curve, double least) {
    std::vector<double> widths;
    for (const auto& s : curve.samples) widths.push_back((s.high - s.low) / s.per_step);
    return widths.empty() ? 1 + least : 1 + std::clamp(summarise(widths).median, least, 0.25);
}

/// An axis value as a person writes it: "4096".
inline std::string whole(double x) { return std::to_string(std::llround(x)); }

/// A sample's seconds a step with its interval. Samples of slope cells carry both in seconds a step.
inline Finding step_finding(const std::string& name, const Curve::Sample& s, const std::string& how) {
    return {name, "s", s.per_step, s.low, s.high, how};
}

/// `amount` a step as a rate; the ends of the interval change places.
inline Finding rate_finding(const std::string& name, const std::string& unit, const Curve::Sample& s, double amount,
                            const std::string& how) {
    const auto rate = [&](double seconds) { return amount / (seconds > 0 ? seconds : s.per_step); };
    return {name, unit, rate(s.per_step), rate(s.high), rate(s.low), how};
}

/// First word of `name` that is not the expected one, in words.
inline std::optional<std::string> first_difference(const Buffers& buffers, const char* name,
                                                   std::span<const std::uint32_t> expected) {
    const auto got = buffers.as<std::uint32_t>(name);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (i < got.size() && got[i] == expected[i]) continue;
        return std::string(name) + "[" + std::to_string(i) + "] is " + (i < got.size() ? std::to_string(got[i]) : "missing") +
               ", expected " + std::to_string(expected[i]);
    }
    return std::nullopt;
}

}  // namespace cllab::model::memory_probe
