#include "core/random.hpp"

namespace cllab {

void fill_random(std::span<std::byte> bytes, std::uint64_t seed) {
    Random random(seed);
    // Bytes are taken from the low end of each word by shifts, so that the data is the same on any byte order.
    for (std::size_t i = 0; i < bytes.size();) {
        std::uint64_t word = random();
        for (int k = 0; k < 8 && i < bytes.size(); ++k, ++i, word >>= 8) bytes[i] = static_cast<std::byte>(word & 0xFF);
    }
}

}  // namespace cllab
