// The pitch comparison on the host, written from its definition (cl/pitch.cl, first comment) and from nothing else, and
// the check that holds a device's answer against it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "experiments/lib/pitch_geometry.hpp"
#include "model/experiment.hpp"

namespace cllab::model::pitch {

/// What `pixel(centre, east, west)` gives for every pixel of the ROI, row by row and without gaps: g.pixels() bytes.
/// east[0] and [1] are the neighbours to interpolate between, west[0] and [-1] those on the other side.
/// src: g.bytes() grey pixels.
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

/// D of the fixed-point definition. 16-bit unsigned arithmetic, so that compilers make narrow vectors; no value exceeds
/// 128 * 255 = 32640 (the unit test holds it against 64-bit arithmetic).
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

/// The same of the float definition; this file is built with contraction off, so every operation rounds by itself.
inline std::vector<std::uint8_t> reference(std::span<const std::uint8_t> src, const Geometry& g, FloatWeights weights) {
    const float f = weights.floor, c = weights.ceiling;
    return reference_of(src, g, [=](std::uint8_t centre, const std::uint8_t* east, const std::uint8_t* west) {
        const float sum = f * static_cast<float>(east[0]) + c * static_cast<float>(east[1]) +
                          f * static_cast<float>(west[0]) + c * static_cast<float>(west[-1]);
        return static_cast<std::uint8_t>(static_cast<int>(std::fabs(2.0f * static_cast<float>(centre) - sum) / 2.0f));
    });
}

/// Compares `dst` of a run (g.bytes() bytes) with the expected ROI, and every byte outside the ROI with its poison.
/// Returns the first difference of more than `slack` in reading order as a sentence.
inline std::optional<std::string> check(const Buffers& buffers, const Geometry& g,
                                        std::span<const std::uint8_t> expected, int slack = 0) {
    const auto dst = buffers.as<std::uint8_t>("dst");
    if (dst.size() != g.bytes())
        return "dst has " + std::to_string(dst.size()) + " bytes, expected " + std::to_string(g.bytes());
    const auto place = [&](int x, int y) { return "dst(x " + std::to_string(x) + ", y " + std::to_string(y) + ")"; };
    const auto written = [&](int y, int begin, int end) -> std::optional<std::string> {
        for (int x = begin; x < end; ++x) {
            const std::size_t at =
                static_cast<std::size_t>(y) * static_cast<std::size_t>(g.width) + static_cast<std::size_t>(x);
            if (!buffers.untouched("dst", at))
                return place(x, y) + " is outside the ROI and was overwritten with " + std::to_string(dst[at]);
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
                return where + " was left unwritten, expected " + std::to_string(row[i]);
            if (i < g.columns())
                return where + " is " + std::to_string(dst[at + i]) + ", expected " + std::to_string(row[i]);
        }
        if (auto wrong = written(y, g.right + 1, g.width)) return wrong;
    }
    return std::nullopt;
}

/// One image with what every variant must make of it, computed when first asked for. Not for use by two threads at
/// once.
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
