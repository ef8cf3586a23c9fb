#include "core/random.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/parallel.hpp"

namespace cllab {

void fill_random(std::span<std::byte> bytes, std::uint64_t seed) {
    constexpr std::size_t word_bytes = 8;
    in_parallel(bytes.size(), word_bytes * parallel_piece, [=](std::size_t begin, std::size_t end) {
        Random random(seed);
        random.skip(begin / word_bytes);
        for (std::size_t i = begin; i < end; i += word_bytes) {
            std::uint64_t word = random();
            // The low end first, so that the data is the same on any byte order.
            if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
            std::memcpy(bytes.data() + i, &word, std::min(word_bytes, end - i));
        }
    });
}

}  // namespace cllab
