// Which pixels the pitch family compares and with what weights: pure arithmetic, shared by set-up, reference and tests.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>

#include "core/error.hpp"
#include "core/units.hpp"

namespace cllab::model::pitch {

/// How the two samples on either side of a neighbour at n + fraction are weighed.
enum class Weights {
    linear,     ///< linear interpolation: the nearer sample weighs more; the fixed-point weights sum to 128
    published,  ///< the code published in 2013: weights exchanged, and a sum of 127 compared with 128 times the centre
};

/// Fixed-point weights of the samples at floor(pitch) and at floor(pitch) + 1; neither is negative.
struct FixedWeights {
    int floor = 0, ceiling = 0;
};
struct FloatWeights {
    float floor = 0, ceiling = 0;
};

/// Image size, region of interest (inclusive, pixels) and whole part of the pitch (pixels).
struct Geometry {
    int width = 0, height = 0;
    int left = 0, top = 0, right = 0, bottom = 0;
    int n = 0;

    std::size_t bytes() const { return static_cast<std::size_t>(width) * static_cast<std::size_t>(height); }
    std::size_t columns() const { return static_cast<std::size_t>(right - left + 1); }
    std::size_t rows() const { return static_cast<std::size_t>(bottom - top + 1); }
    std::size_t pixels() const { return columns() * rows(); }
    bool operator==(const Geometry&) const = default;
};

/// Edges of the region of interest as they were asked for; -1 is "the farthest possible".
struct Region {
    long long left = -1, top = -1, right = -1, bottom = -1;
};

namespace detail {
inline int edge(const char* name, long long asked, long long automatic, long long least, long long most,
                const std::string& where) {
    const long long value = asked < 0 ? automatic : asked;
    if (value < least || value > most)
        throw Error(Blame::usage, std::string(name) + " is " + std::to_string(value) + "; " + where + " it can be " +
                                      std::to_string(least) + " to " + std::to_string(most));
    return static_cast<int>(value);
}
}  // namespace detail

/// The geometry with every edge known: column x is legal when x - n - 1 and x + n + 1 lie in the image.
/// width and height in pixels, pitch in pixels. Throws Error(usage) for a pitch below 1, an image too narrow for the
/// pitch, and an edge outside the legal columns or rows.
inline Geometry resolve(long long width, long long height, double pitch, const Region& region) {
    if (!(pitch >= 1)) throw Error(Blame::usage, "pitch is " + format_exact(pitch) + " pixels; it must be at least 1");
    if (width < 1 || height < 1 || width > 0x3fffffff || height > 0x3fffffff)
        throw Error(Blame::usage, "the image is " + std::to_string(width) + "x" + std::to_string(height) +
                                      " pixels; each side can be 1 to 1073741823");
    // Compared as doubles first: the pitch may be past any integer.
    if (2 * std::floor(pitch) + 3 > static_cast<double>(width))
        throw Error(Blame::usage, "an image " + std::to_string(width) + " pixels wide is too narrow for pitch " +
                                      format_exact(pitch) + ", which takes at least " +
                                      format_exact(2 * std::floor(pitch) + 3));
    Geometry g;
    g.width = static_cast<int>(width);
    g.height = static_cast<int>(height);
    g.n = static_cast<int>(pitch);
    const std::string where =
        "with pitch " + format_exact(pitch) + " in an image of " + std::to_string(width) + "x" + std::to_string(height);
    const long long first = g.n + 1, last = width - g.n - 2;
    g.left = detail::edge("left", region.left, first, first, last, where);
    g.right = detail::edge("right", region.right, last, g.left, last, where);
    g.top = detail::edge("top", region.top, 0, 0, height - 1, where);
    g.bottom = detail::edge("bottom", region.bottom, height - 1, g.top, height - 1, where);
    return g;
}

/// Weights in 1/128 (linear) or 1/127 (published). pitch >= 1.
inline FixedWeights fixed_weights(double pitch, Weights weights) {
    const double fraction = pitch - std::floor(pitch);
    if (weights == Weights::published) {
        const int floor = static_cast<int>(fraction * 127 + 0.5);
        return {floor, 127 - floor};
    }
    const int ceiling = static_cast<int>(fraction * 128 + 0.5);
    return {128 - ceiling, ceiling};
}

inline FloatWeights float_weights(double pitch, Weights weights) {
    const auto fraction = static_cast<float>(pitch - std::floor(pitch));
    if (weights == Weights::published) return {fraction, 1.0f - fraction};
    return {1.0f - fraction, fraction};
}

}  // namespace cllab::model::pitch
