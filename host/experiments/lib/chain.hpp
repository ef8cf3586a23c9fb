// The chain that the arithmetic probes run, and its reference on the host.
//
// The chain is x <- fma(x, x, c) with c = -1.9: a quadratic map that is chaotic on [-2, 2] and never leaves it. The
// usual chain x <- fma(x, a, b) reaches a fixed point, so a compiler or kernel that then omits steps gives the same
// bits. Here the end value depends on every step, and the host's fma reproduces it bit for bit.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/grouped.hpp"
#include "core/half.hpp"
#include "core/random.hpp"

namespace cllab::model::lib {

inline constexpr double chain_constant = -1.9;

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

/// Maps different numbers to different numbers, so that every step shows in the end value. A quadratic map modulo 2^32
/// soon has only a few values. If c is odd, this chain visits all 2^32 numbers (Hull and Dobell 1962).
inline std::uint32_t chain_step(std::uint32_t x, std::uint32_t c) { return x * ((c & ~7u) | 5) + c; }
/// The same with all 2^16 numbers.
inline std::uint16_t chain_step(std::uint16_t x, std::uint16_t c) {
    return static_cast<std::uint16_t>(chain_step(std::uint32_t{x}, std::uint32_t{c}));
}

// In double, product and sum of three halves near 1 are exact, so only the last rounding counts.
inline Half chain_step(Half x, Half c) { return to_half(static_cast<double>(x) * x + c); }
inline Half operator+(Half a, Half b) { return to_half(static_cast<double>(a) + static_cast<double>(b)); }

template <typename T>
T run_chain(T x, T c, std::int64_t steps, T (*step)(T, T) = chain_step) {
    for (std::int64_t i = 0; i < steps; ++i) x = step(x, c);
    return x;
}

/// The output of the kernels for chains of `steps` links. Element e of a work-item is the sum, in order, of element e
/// of its `chains` chains of `width` elements. Work-items repeat with period 4.
template <typename T>
std::vector<T> chain_sums(const std::vector<T>& starts, T c, std::int64_t steps, std::size_t chains, std::size_t width,
                          T (*step)(T, T) = chain_step) {
    std::vector<T> ends, out;
    for (const T x : starts) ends.push_back(run_chain(x, c, steps, step));
    for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t e = 0; e < width; ++e) {
            T sum{};
            for (std::size_t j = 0; j < chains; ++j) sum = static_cast<T>(sum + ends[i + j * width + e]);
            out.push_back(sum);
        }
    }
    return out;
}

}  // namespace cllab::model::lib
