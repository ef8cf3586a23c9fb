#include "peer/pitch_peer.hpp"

#include <cstdlib>
#include <thread>
#include <vector>

namespace peer {
namespace {

void rows(const std::uint8_t* __restrict src, std::uint8_t* __restrict dst, std::ptrdiff_t width, int left, int begin,
          int right, int end, int n, int f, int c) {
    for (int y = begin; y < end; ++y) {
        const std::uint8_t* __restrict from = src + y * width;
        std::uint8_t* __restrict to = dst + y * width;
        for (int x = left; x <= right; ++x) {
            // 16-bit types, or the vectoriser works on half as many pixels at a time.
            const auto e = static_cast<std::uint16_t>(f * from[x + n] + c * from[x + n + 1]);
            const auto w = static_cast<std::uint16_t>(f * from[x - n] + c * from[x - n - 1]);
            const auto d = static_cast<std::int16_t>(128 * from[x] - ((e >> 1) + (w >> 1)));
            to[x] = static_cast<std::uint8_t>(static_cast<std::uint16_t>(std::abs(d)) >> 7);
        }
    }
}

}  // namespace

void peer_pitch(const std::uint8_t* src, std::uint8_t* dst, int width, int left, int top, int right, int bottom, int n,
                int floor_weight, int ceiling_weight, unsigned threads) {
    const long long count = bottom - top + 1;
    const auto part = [&](unsigned i) {
        rows(src, dst, width, left, top + static_cast<int>(count * i / threads), right,
             top + static_cast<int>(count * (i + 1) / threads), n, floor_weight, ceiling_weight);
    };
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < threads; ++i) others.emplace_back(part, i);
    part(0);
}

}  // namespace peer
