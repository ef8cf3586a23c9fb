// Logarithm, sine and cosine by series. Vector instructions can compute them. They consist of operations that IEEE 754
// defines to the last bit, so a seed gives the same numbers by every compiler, on every processor.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>
#include <utility>

namespace cllab::kernelfile {

/// An exponentially distributed number of 31 random bits: -log((2 bits + 1) / 2^32).
template <typename Real>
Real exponential(std::int32_t bits) {
    using Bits = std::conditional_t<sizeof(Real) == sizeof(double), std::uint64_t, std::uint32_t>;
    constexpr int places = std::numeric_limits<Real>::digits - 1, terms = sizeof(Real) == sizeof(double) ? 10 : 5;
    constexpr auto root_half = std::bit_cast<Bits>(static_cast<Real>(std::numbers::sqrt2 / 2));
    // log x = e log 2 + log m with m from sqrt(1/2) to sqrt(2).
    const Bits above = std::bit_cast<Bits>(static_cast<Real>(bits) * 2 + 1) - root_half;
    const auto m = std::bit_cast<Real>((above & ((Bits{1} << places) - 1)) + root_half), s = (m - 1) / (m + 1);
    Real artanh = 0;  // divided by s
    for (int k = terms - 1; k >= 0; --k) artanh = artanh * (s * s) + Real{1} / static_cast<Real>(2 * k + 1);
    return static_cast<Real>(32 - static_cast<std::int32_t>(above >> places)) * std::numbers::ln2_v<Real> -
           2 * s * artanh;
}

/// Two independent Gaussian numbers of one random word, by the Box-Muller transform.
template <typename Real>
std::pair<Real, Real> normal_pair(std::uint64_t word) {
    constexpr int terms = sizeof(Real) == sizeof(double) ? 11 : 7;
    constexpr auto factors = [] {
        std::array<Real, 2 * terms> out{};
        double factorial = 1;
        for (int k = 0; k < 2 * terms; factorial *= ++k) out[k] = static_cast<Real>((k & 2 ? -1 : 1) / factorial);
        return out;
    }();
    // The angle is from -pi/2 to pi/2. Another bit is the sign of its cosine.
    const auto angle =
        static_cast<Real>(static_cast<std::int32_t>(word)) * static_cast<Real>(std::numbers::pi * 0x1p-32);
    Real cosine = 0, sine = 0;
    for (int k = terms - 1; k >= 0; --k) {
        cosine = cosine * (angle * angle) + factors[2 * k];
        sine = sine * (angle * angle) + factors[2 * k + 1];
    }
    const auto radius = std::sqrt(2 * exponential<Real>(static_cast<std::int32_t>(word >> 33)));
    return {word >> 32 & 1 ? -radius * cosine : radius * cosine, radius * (angle * sine)};
}

}  // namespace cllab::kernelfile
