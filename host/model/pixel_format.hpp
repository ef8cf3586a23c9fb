// What a pixel of an image is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "model/kernel_signature.hpp"

namespace cllab::model {

struct PixelFormat {
    enum class Order { r, rg, rgba, bgra, depth };
    /// Normalised: what a kernel reads as 0 to 1, or -1 to 1.
    enum class Channel { normalised, signed_normalised, integer, unsigned_integer, floating };
    Order order = Order::rgba;
    Channel channel = Channel::normalised;
    std::size_t channel_bytes = 1;

    std::size_t channels() const { return order == Order::r || order == Order::depth ? 1 : order == Order::rg ? 2 : 4; }
    std::size_t bytes() const { return channels() * channel_bytes; }
    bool is_normalised() const { return channel == Channel::normalised || channel == Channel::signed_normalised; }
    bool is_signed() const { return channel == Channel::signed_normalised || channel == Channel::integer; }
    /// The integer that is white: of a normalised channel the one that is read as 1, else 255 where it fits.
    std::int64_t white() const;
    /// "rgba8ui": the channels, the bits of each, and nothing, s, i, ui or f.
    std::string name() const;
    /// The pixel in the types of OpenCL C: "uchar4".
    ElementType type() const;
    bool operator==(const PixelFormat&) const = default;
};

inline constexpr PixelFormat r8_unsigned{PixelFormat::Order::r, PixelFormat::Channel::unsigned_integer, 1};
inline constexpr PixelFormat rgba8_unsigned{PixelFormat::Order::rgba, PixelFormat::Channel::unsigned_integer, 1};
inline constexpr PixelFormat depth32_float{PixelFormat::Order::depth, PixelFormat::Channel::floating, 4};
inline constexpr PixelFormat rgba32_integer{PixelFormat::Order::rgba, PixelFormat::Channel::integer, 4};

std::optional<PixelFormat> pixel_format(const std::string& name);
/// What such a name is made of, for a sentence.
inline constexpr const char* pixel_formats =
    "r, rg, rgba or bgra, then 8, 16 or 32 bits a channel, then ui, i or f, or for 8 and 16 bits nothing or s, which "
    "are read as 0 to 1 and -1 to 1: r8, rg32f, rgba8ui, rgba16f; of depth images depth16 or depth32f";

}  // namespace cllab::model
