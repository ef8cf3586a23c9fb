#include "core/random.hpp"

#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "core/parallel.hpp"
#include "core/widest.hpp"

namespace cllab {

std::vector<std::uint32_t> random_order(std::size_t count, std::uint64_t seed) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0u);
    Random random(seed);
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    return order;
}

Permutation::Permutation(std::size_t count, Random random)
    : last_(static_cast<std::uint32_t>(count - 1)),
      mask_(static_cast<std::uint32_t>(std::bit_ceil(count) - 1)),
      shift_((std::popcount(mask_) + 1) / 2) {
    for (auto& round : rounds_)
        round = {static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random() | 1)};
}

void Permutation::put(std::size_t first, std::span<std::uint32_t> to) const {
    widest([*this, first, to] {
        for (std::size_t i = 0; i < to.size(); ++i) to[i] = stepped(static_cast<std::uint32_t>(first + i));
    });
    // A number beyond the last takes the steps again. Up to half of them do, which no processor predicts.
    std::array<std::uint16_t, at_once> beyond;
    std::iota(beyond.begin(), beyond.end(), std::uint16_t{0});
    for (auto left = to.size(); left > 0;) {
        const auto before = std::exchange(left, 0);
        for (std::size_t k = 0; k < before; ++k) {
            const auto place = beyond[k];
            beyond[left] = place;
            left += to[place] > last_;
        }
        for (std::size_t k = 0; k < left; ++k) to[beyond[k]] = stepped(to[beyond[k]]);
    }
}

void fill_mixed(std::span<std::byte> bytes, std::uint64_t start) {
    constexpr std::size_t word_bytes = 8;
    const auto put = [=, to = bytes.data()](std::size_t i, std::size_t count) {
        std::uint64_t word = mix64(start + i / word_bytes * 0x9E3779B97F4A7C15ull);
        // Low byte first, so that the data is the same for any byte order.
        if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
        std::memcpy(to + i, &word, count);
    };
    in_parallel(bytes.size(), word_bytes * parallel_piece, [=](std::size_t i, std::size_t end) {
        widest([=]() mutable {
            for (; i + word_bytes <= end; i += word_bytes) put(i, word_bytes);
            if (i < end) put(i, end - i);
        });
    });
}

}  // namespace cllab
