// The pixels and weights of the pitch family's comparison, and the comparison on the host. The host code follows only
// the definition in the first comment of cl/pitch.cl.
#pragma once

#include <cstdlib>
#include <cstring>

#include "experiments/lib/family.hpp"

namespace cllab::model::pitch {

/// The weights of the two samples around a neighbor at n + fraction.
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

/// Edges of the region of interest as requested; -1 means as far as possible.
struct Region {
    long long left = -1, top = -1, right = -1, bottom = -1;
};

/// The geometry with every edge known. Column x is valid if x - n - 1 and x + n + 1 are in the image. width, height and
/// pitch in pixels. Throws Error(usage) for a pitch below 1, an image too narrow for the pitch, and an edge outside the
/// valid columns or rows.
inline Geometry resolve(long long width, long long height, double pitch, const Region& region) {
    if (!(pitch >= 1)) throw Error(Blame::usage, "pitch is ", format_exact(pitch), " pixels; it must be at least 1");
    if (width < 1 || height < 1 || width > 0x3fffffff || height > 0x3fffffff)
        throw Error(Blame::usage, "the image is ", width, "x", height, " pixels; each side can be 1 to 1073741823");
    // Compare as doubles first, because the pitch may be beyond any integer.
    if (2 * std::floor(pitch) + 3 > static_cast<double>(width))
        throw Error(Blame::usage, "the image is ", width, " pixels wide; pitch ", format_exact(pitch),
                    " needs at least ", format_exact(2 * std::floor(pitch) + 3));
    Geometry g;
    g.width = static_cast<int>(width);
    g.height = static_cast<int>(height);
    g.n = static_cast<int>(pitch);
    const std::string where = concat("with pitch ", format_exact(pitch), " in an image of ", width, "x", height);
    const long long first = g.n + 1, last = width - g.n - 2;
    const auto edge = [&](const char* name, long long asked, long long automatic, long long least, long long most) {
        const long long value = asked < 0 ? automatic : asked;
        if (value < least || value > most)
            throw Error(Blame::usage, name, " is ", value, "; ", where, " it can be ", least, " to ", most);
        return static_cast<int>(value);
    };
    g.left = edge("left", region.left, first, first, last);
    g.right = edge("right", region.right, last, g.left, last);
    g.top = edge("top", region.top, 0, 0, height - 1);
    g.bottom = edge("bottom", region.bottom, height - 1, g.top, height - 1);
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

/// The result of `pixel(centre, east, west)` for every pixel of the ROI, row by row without gaps: g.pixels() bytes.
/// east[0] and [1] are the neighbors to interpolate between, west[0] and [-1] those on the other side. src: g.bytes()
/// grey pixels.
template <typename Pixel>
std::vector<std::uint8_t> reference_of(std::span<const std::uint8_t> src, const Geometry& g, const Pixel& pixel) {
    std::vector<std::uint8_t> out(g.pixels());
    const std::size_t width = static_cast<std::size_t>(g.width), columns = g.columns();
    in_parallel(g.rows(), parallel_piece / columns + 1, [&](std::size_t begin, std::size_t end) {
        for (auto row = begin; row < end; ++row) {
            const std::uint8_t* centre = src.data() + (static_cast<std::size_t>(g.top) + row) * width + g.left;
            const std::uint8_t *east = centre + g.n, *west = centre - g.n;
            std::uint8_t* d = out.data() + row * columns;
            for (std::size_t i = 0; i < columns; ++i) d[i] = pixel(centre[i], east + i, west + i);
        }
    });
    return out;
}

/// D of the fixed-point definition. 16-bit unsigned arithmetic, so that compilers use narrow vectors. No value exceeds
/// 128 * 255 = 32640 (the unit test compares it with 64-bit arithmetic).
inline std::vector<std::uint8_t> reference(std::span<const std::uint8_t> src, const Geometry& g, FixedWeights weights) {
    const auto f = static_cast<std::uint16_t>(weights.floor), c = static_cast<std::uint16_t>(weights.ceiling);
    return reference_of(src, g, [=](std::uint8_t centre, const std::uint8_t* east, const std::uint8_t* west) {
        const auto e = static_cast<std::uint16_t>(f * east[0] + c * east[1]);
        const auto w = static_cast<std::uint16_t>(f * west[0] + c * west[-1]);
        const auto expected = static_cast<std::uint16_t>(e / 2 + w / 2),
                   found = static_cast<std::uint16_t>(128 * centre);
        return static_cast<std::uint8_t>((std::max(found, expected) - std::min(found, expected)) / 128);
    });
}

/// The same for the float definition. The program is built without contraction, so every operation rounds separately.
inline std::vector<std::uint8_t> reference(std::span<const std::uint8_t> src, const Geometry& g, FloatWeights weights) {
    const float f = weights.floor, c = weights.ceiling;
    return reference_of(src, g, [=](std::uint8_t centre, const std::uint8_t* east, const std::uint8_t* west) {
        const float sum = f * static_cast<float>(east[0]) + c * static_cast<float>(east[1]) +
                          f * static_cast<float>(west[0]) + c * static_cast<float>(west[-1]);
        return static_cast<std::uint8_t>(static_cast<int>(std::fabs(2.0f * static_cast<float>(centre) - sum) / 2.0f));
    });
}

/// Compares `dst` of a run (g.bytes() bytes) with the expected ROI, and every byte outside the ROI with its poison.
/// Returns the first difference of more than `slack`, in reading order, as a sentence.
inline std::optional<std::string> check(const Buffers& buffers, const Geometry& g,
                                        std::span<const std::uint8_t> expected, int slack = 0) {
    const auto dst = buffers.as<std::uint8_t>("dst");
    if (dst.size() != g.bytes()) return concat("dst has ", dst.size(), " bytes, expected ", g.bytes());
    const auto place = [&](int x, int y) { return concat("dst(x ", x, ", y ", y, ")"); };
    const auto written = [&](int y, int begin, int end) -> std::optional<std::string> {
        for (int x = begin; x < end; ++x) {
            const std::size_t at =
                static_cast<std::size_t>(y) * static_cast<std::size_t>(g.width) + static_cast<std::size_t>(x);
            if (!buffers.untouched("dst", at))
                return concat(place(x, y), " is outside the ROI and was overwritten with ", dst[at]);
        }
        return std::nullopt;
    };
    for (int y = 0; y < g.height; ++y) {
        if (y < g.top || y > g.bottom) {
            if (auto wrong = written(y, 0, g.width)) return wrong;
            continue;
        }
        if (auto wrong = written(y, 0, g.left)) return wrong;
        const std::size_t at =
            static_cast<std::size_t>(y) * static_cast<std::size_t>(g.width) + static_cast<std::size_t>(g.left);
        const auto* row = expected.data() + static_cast<std::size_t>(y - g.top) * g.columns();
        const auto near = [&](std::uint8_t e, std::uint8_t found) {
            return std::abs(e - found) <= slack || buffers.near_enough(found, e);
        };
        if (std::memcmp(dst.data() + at, row, g.columns()) != 0) {
            const auto i =
                static_cast<std::size_t>(std::mismatch(row, row + g.columns(), dst.data() + at, near).first - row);
            const auto where = place(g.left + static_cast<int>(i), y);
            if (i < g.columns() && buffers.untouched("dst", at + i))
                return concat(where, " was left unwritten, expected ", row[i]);
            if (i < g.columns()) return concat(where, " is ", dst[at + i], ", expected ", row[i]);
        }
        if (auto wrong = written(y, g.right + 1, g.width)) return wrong;
    }
    return std::nullopt;
}

/// An image and the expected results, which are computed when first used. Not thread-safe.
class Scene {
public:
    Scene(SharedBytes image, const Geometry& geometry, double pitch, Weights weights)
        : src(std::move(image)), g(geometry), pitch_(pitch), weights_(weights) {}

    const SharedBytes src;  ///< g.bytes() grey pixels
    const Geometry g;

    std::span<const std::uint8_t> pixels() const {
        return {reinterpret_cast<const std::uint8_t*>(src->data()), src->size()};
    }
    const std::vector<std::uint8_t>& fixed() {
        if (fixed_.empty()) fixed_ = reference(pixels(), g, fixed_weights(pitch_, weights_));
        return fixed_;
    }
    const std::vector<std::uint8_t>& floating() {
        if (floating_.empty()) floating_ = reference(pixels(), g, float_weights(pitch_, weights_));
        return floating_;
    }

private:
    double pitch_;
    Weights weights_;
    std::vector<std::uint8_t> fixed_, floating_;
};

}  // namespace cllab::model::pitch
