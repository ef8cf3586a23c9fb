// The loops that the kernel studies are measured against: what a good engineer writes first, left to the compiler's
// vectoriser at -O3 -march=native, with one thread a core. Not references: the kernels are checked elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>

namespace peer {

// All arrays are row by row without padding and do not overlap. threads >= 1; the caller's is one of them.

/// Inverts the first `width` bytes of each of `height` rows that are `step` bytes apart.
void invert(std::uint8_t* p, std::size_t width, std::size_t height, std::size_t step, unsigned threads);
/// For each element in NHWC order its index in NCHW order.
void nchw(std::uint32_t* out, std::uint32_t n, std::uint32_t c, std::uint32_t h, std::uint32_t w, unsigned threads);
/// Planes of side x side words into the middle of zeroed planes of side + 2 margin.
void pad(const std::uint32_t* in, std::uint32_t* out, std::size_t planes, std::size_t side, std::size_t margin,
         unsigned threads);
/// Training forward of a batch normalisation by channel; plane is rows times columns. means and scales: one a channel.
void batchnorm(const float* x, float* y, float* means, float* scales, const float* gamma, const float* beta,
               std::size_t images, std::size_t channels, std::size_t plane, unsigned threads);

}  // namespace peer
