#include "peer/studies_peer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

namespace peer {
namespace {

/// work(first, last, thread) on equal parts of 0 … count.
template <typename Work>
void share(std::size_t count, unsigned threads, Work work) {
    const auto part = [&](unsigned t) { work(count * t / threads, count * (t + 1) / threads, t); };
    std::vector<std::thread> others;
    for (unsigned t = 1; t < threads; ++t) others.emplace_back(part, t);
    part(0);
    for (auto& other : others) other.join();
}

}  // namespace

void invert(std::uint8_t* p, std::size_t width, std::size_t height, std::size_t step, unsigned threads) {
    share(height, threads, [=](std::size_t first, std::size_t last, unsigned) {
        for (std::size_t y = first; y < last; ++y) {
            std::uint8_t* row = p + y * step;
            for (std::size_t x = 0; x < width; ++x) row[x] = static_cast<std::uint8_t>(255 - row[x]);
        }
    });
}

void nchw(std::uint32_t* out, std::uint32_t n, std::uint32_t c, std::uint32_t h, std::uint32_t w, unsigned threads) {
    share(n, threads, [=](std::size_t first, std::size_t last, unsigned) {
        for (auto image = static_cast<std::uint32_t>(first); image < last; ++image) {
            std::uint32_t* to = out + static_cast<std::size_t>(image) * h * w * c;
            for (std::uint32_t y = 0; y < h; ++y) {
                for (std::uint32_t x = 0; x < w; ++x) {
                    for (std::uint32_t channel = 0; channel < c; ++channel)
                        *to++ = ((image * c + channel) * h + y) * w + x;
                }
            }
        }
    });
}

void pad(const std::uint32_t* in, std::uint32_t* out, std::size_t planes, std::size_t side, std::size_t margin,
         unsigned threads) {
    const std::size_t wide = side + 2 * margin;
    share(planes, threads, [=](std::size_t first, std::size_t last, unsigned) {
        for (std::size_t p = first; p < last; ++p) {
            std::uint32_t* to = out + p * wide * wide;
            std::memset(to, 0, wide * wide * sizeof *to);
            for (std::size_t y = 0; y < side; ++y)
                std::memcpy(to + (y + margin) * wide + margin, in + (p * side + y) * side, side * sizeof *to);
        }
    });
}

void batchnorm(const float* x, float* y, float* means, float* scales, const float* gamma, const float* beta,
               std::size_t images, std::size_t channels, std::size_t plane, unsigned threads) {
    share(channels, threads, [=](std::size_t first, std::size_t last, unsigned) {
        const float count = static_cast<float>(images * plane);
        for (std::size_t c = first; c < last; ++c) {
            // Float sums are vectorised only when their order may change, which takes one sum a lane.
            constexpr std::size_t lanes = 16;
            float sum[lanes]{}, squares[lanes]{};
            const float shift = x[c * plane];
            for (std::size_t n = 0; n < images; ++n) {
                const float* p = x + (n * channels + c) * plane;
                std::size_t i = 0;
                for (; i + lanes <= plane; i += lanes) {
                    for (std::size_t l = 0; l < lanes; ++l) {
                        const float d = p[i + l] - shift;
                        sum[l] += d;
                        squares[l] += d * d;
                    }
                }
                for (; i < plane; ++i) {
                    sum[0] += p[i] - shift;
                    squares[0] += (p[i] - shift) * (p[i] - shift);
                }
            }
            for (std::size_t l = 1; l < lanes; ++l) sum[0] += sum[l], squares[0] += squares[l];
            const float moved = sum[0] / count, mean = shift + moved;
            const float scale = 1 / std::sqrt(std::max(squares[0] / count - moved * moved, 0.0f) + 1e-5f);
            means[c] = mean;
            scales[c] = scale;
            const float factor = scale * gamma[c], offset = beta[c];
            for (std::size_t n = 0; n < images; ++n) {
                const float* p = x + (n * channels + c) * plane;
                float* to = y + (n * channels + c) * plane;
                for (std::size_t i = 0; i < plane; ++i) to[i] = (p[i] - mean) * factor + offset;
            }
        }
    });
}

}  // namespace peer
