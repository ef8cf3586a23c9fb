// Half precision and bfloat16 for a host whose compiler may lack them.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace cllab {

/// IEEE binary16 as plain bits; converts to the double that it represents.
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
    // Units in the last place. A carry goes into the exponent by itself.
    const auto units = static_cast<int>(std::nearbyint(std::ldexp(size, 10 - exponent)));
    return {static_cast<std::uint16_t>(sign | (((exponent + 14) << 10) + units))};
}

/// The upper half of a float.
struct Bfloat16 {
    std::uint16_t bits = 0;
    operator double() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
};

/// Rounds the float to nearest, ties to even.
inline Bfloat16 to_bfloat16(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    if (std::isnan(x)) return {static_cast<std::uint16_t>(bits >> 16 | 0x40)};
    return {static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

}  // namespace cllab
