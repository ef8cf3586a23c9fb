// What the probes of arithmetic and launching share: facts turned into sizes, trip counts, and the chain they run.
//
// The chain is x <- fma(x, x, c) with c = -1.9: a quadratic map that is chaotic on [-2, 2] and never leaves it. The
// usual chain x <- fma(x, a, b) runs into a fixed point, after which a compiler or a kernel that leaves steps out gives
// the same bits; here the end value depends on every single step, and the host's fma reproduces it bit for bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "model/experiment.hpp"

namespace cllab::model::probe {

inline constexpr double chain_constant = -1.9;

inline bool is_simulator(const Device& device) { return device.implementation == Implementation::oclgrind; }

/// Work-items that a GPU issues together, as the driver says it, else the vendor's usual number; 1 on a CPU, where a
/// work-item is an iteration of a loop.
inline std::size_t wave_width(const Device& device) {
    if (!device.is_gpu()) return 1;
    if (device.preferred_multiple > 0) return device.preferred_multiple;
    return device.implementation == Implementation::amd ? 64 : 32;
}

/// Trip counts `low` and three times that, so that two thirds of the longer run are the difference. A simulator, which
/// runs some million instructions a second, gets 1 and 2.
inline Slope slope(const Device& device, std::int32_t low, double steps_per_trip,
                   const std::string& argument = "trips") {
    if (is_simulator(device)) return {argument, 1, 2, steps_per_trip};
    low = std::max(low, 1);
    return {argument, low, 3 * low, steps_per_trip};
}

/// Start values of chains, exact in float, away from the map's fixed points.
template <typename T>
std::vector<T> chain_starts(std::size_t count, std::uint64_t seed) {
    Random random(seed);
    std::vector<T> out(count);
    for (auto& x : out) x = static_cast<T>(random.real(-1.5f, 1.5f));
    return out;
}

inline float chain_step(float x, float c) { return std::fma(x, x, c); }
inline double chain_step(double x, double c) { return std::fma(x, x, c); }

inline std::uint32_t chain_step(std::uint32_t x, std::uint32_t c) { return x * x + c; }

/// IEEE binary16 as a plain value: its bits and the double it stands for.
struct Half {
    std::uint16_t bits = 0;
    operator double() const {
        const int exponent = bits >> 10 & 31, fraction = bits & 1023;
        const double size = exponent == 0    ? std::ldexp(fraction, -24)
                            : exponent == 31 ? (fraction ? NAN : INFINITY)
                                             : std::ldexp(1024 + fraction, exponent - 25);
        return bits >> 15 ? -size : size;
    }
};

/// Rounds to nearest, ties to even, as the device does.
inline Half to_half(double x) {
    const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    const double size = std::abs(x);
    if (std::isnan(x)) return {static_cast<std::uint16_t>(sign | 0x7E00)};
    if (size >= 65520) return {static_cast<std::uint16_t>(sign | 0x7C00)};
    int exponent = size > 0 ? std::ilogb(size) : -15;
    exponent = std::max(exponent, -14);
    // Units in the last place; one too many carries into the exponent by itself.
    const auto units = static_cast<int>(std::nearbyint(std::ldexp(size, 10 - exponent)));
    return {static_cast<std::uint16_t>(sign | (((exponent + 14) << 10) + units))};
}

// Product and sum of three halves near 1 are exact in double, so only the last rounding counts.
inline Half chain_step(Half x, Half c) { return to_half(static_cast<double>(x) * x + c); }
inline Half operator+(Half a, Half b) { return to_half(static_cast<double>(a) + static_cast<double>(b)); }

inline std::vector<Half> half_starts(std::size_t count, std::uint64_t seed) {
    std::vector<Half> out;
    for (const float x : chain_starts<float>(count, seed)) out.push_back(to_half(x));
    return out;
}

template <typename T>
T run_chain(T x, T c, std::int64_t steps) {
    for (std::int64_t i = 0; i < steps; ++i) x = chain_step(x, c);
    return x;
}

inline std::string show(double x) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", x);
    return text;
}

/// First element of `name` whose bits differ from `expected(i)`, in words.
template <typename T, typename Expected>
std::optional<std::string> first_difference(const Buffers& buffers, const char* name, Expected expected) {
    const auto got = buffers.as<T>(name);
    for (std::size_t i = 0; i < got.size(); ++i) {
        const T want = expected(i);
        if (std::memcmp(&got[i], &want, sizeof(T)) == 0) continue;
        return std::string(name) + "[" + std::to_string(i) + "] is " + show(static_cast<double>(got[i])) +
               ", expected " + show(static_cast<double>(want));
    }
    return std::nullopt;
}

/// A number an axis may leave to the device.
inline std::int64_t or_auto(const Point& point, const std::string& axis, std::int64_t automatic) {
    return point.is_auto(axis) ? automatic : point.integer(axis);
}

inline std::string text_of(double value) {
    char out[32];
    std::snprintf(out, sizeof out, "%g", value);
    return out;
}

/// The metric of a sample, or nothing.
inline std::optional<double> metric(const Curve::Sample& sample, const std::string& name) {
    const auto found = sample.metrics.find(name);
    if (found == sample.metrics.end()) return std::nullopt;
    return found->second;
}

/// A finding from a sample's time of a step, with the sample's own interval.
inline Finding from_step(const std::string& name, const Curve::Sample& sample, const std::string& how) {
    return {name, "s", sample.per_step, sample.low, sample.high, how};
}

/// `amount` per step as a rate; the ends of the interval change places.
inline Finding rate_of(const std::string& name, const std::string& unit, const Curve::Sample& sample, double amount,
                       const std::string& how) {
    const auto rate = [&](double seconds) { return seconds > 0 ? amount / seconds : amount / sample.per_step; };
    return {name, unit, rate(sample.per_step), rate(sample.high), rate(sample.low), how};
}

}  // namespace cllab::model::probe
