// Half precision and bfloat16 for a host whose compiler may lack them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace cllab {

/// IEEE binary16 as plain bits; converts to the double that it represents.
struct Half {
    std::uint16_t bits = 0;
    operator double() const {
        // Converts to float first, because a vector holds more floats than doubles.
        const std::int32_t size = bits & 0x7FFF, sign = bits >> 15;
        const auto subnormal = std::bit_cast<std::int32_t>(static_cast<float>(size) * 0x1p-24F);
        const auto wide = size > 0x7C00    ? 0x7FC0 << 16
                          : size == 0x7C00 ? 0x7F80 << 16
                          : size < 0x400   ? subnormal
                                           : (size << 13) + ((127 - 15) << 23);
        return std::bit_cast<float>(sign << 31 | wide);
    }
};

/// Rounds to nearest, ties to even, as the device does.
inline Half to_half(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x), sign = bits >> 63 << 15;
    const double size = std::bit_cast<double>(bits << 1 >> 1);
    // The exponent, at least that of the smallest normal number.
    const auto exponent = std::bit_cast<std::uint64_t>(size < 0x1p-14 ? 0x1p-14 : size) >> 52;
    // Added to a number whose last place is one of the half's, it is rounded to those. A carry goes into the exponent.
    const auto large = (exponent + 52 - 10) << 52;
    const auto units = std::bit_cast<std::uint64_t>(size + std::bit_cast<double>(large)) - large;
    const auto rounded = ((exponent - (1023 - 14)) << 10) + units;
    return {static_cast<std::uint16_t>(sign | (size != size ? 0x7E00 : size >= 65520 ? 0x7C00 : rounded))};
}

/// The upper half of a float.
struct Bfloat16 {
    std::uint16_t bits = 0;
    operator double() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
};

/// Rounds the float to nearest, ties to even.
inline Bfloat16 to_bfloat16(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const auto rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return {static_cast<std::uint16_t>(x != x ? bits >> 16 | 0x40 : rounded)};
}

}  // namespace cllab
