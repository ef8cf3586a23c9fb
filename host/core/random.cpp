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

void fill_mixed(std::span<std::byte> bytes, std::uint64_t start) {
    constexpr std::size_t word_bytes = 8;
    const auto word = [=](std::size_t i) {
        const auto mixed = mix64(start + i * 0x9E3779B97F4A7C15ull);
        // Low byte first, so that the data is the same for any byte order.
        return std::endian::native == std::endian::big ? __builtin_bswap64(mixed) : mixed;
    };
    const auto words = bytes.size() / word_bytes;
    in_parallel(words, parallel_piece, [=](std::size_t begin, std::size_t end) {
        widest([=, data = bytes.data()] {
            for (std::size_t i = begin; i < end; ++i) {
                const auto one = word(i);
                std::memcpy(data + i * word_bytes, &one, word_bytes);
            }
        });
    });
    const auto last = word(words);
    if (const auto rest = bytes.subspan(words * word_bytes); !rest.empty())
        std::memcpy(rest.data(), &last, rest.size());
}

}  // namespace cllab
