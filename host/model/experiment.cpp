#include "model/experiment.hpp"

#include "core/random.hpp"

namespace cllab::model {
namespace {

/// The eight poison bytes of one aligned group, low byte first.
std::uint64_t poison_word(std::uint64_t seed, std::size_t group) {
    return mix64(mix64(seed) + static_cast<std::uint64_t>(group) * 0x9E3779B97F4A7C15ull);
}

}  // namespace

std::byte poison_byte(std::uint64_t seed, std::size_t index) {
    return static_cast<std::byte>(poison_word(seed, index / 8) >> (index % 8 * 8) & 0xFF);
}

void poison(std::span<std::byte> bytes, std::uint64_t seed) {
    for (std::size_t i = 0; i < bytes.size();) {
        std::uint64_t word = poison_word(seed, i / 8);
        for (int k = 0; k < 8 && i < bytes.size(); ++k, ++i, word >>= 8) bytes[i] = static_cast<std::byte>(word & 0xFF);
    }
}

bool Buffers::untouched(std::string_view name, std::size_t i) const {
    const auto bytes = as<std::byte>(name);
    if (i >= bytes.size())
        throw Error(Blame::result, "check asks for byte " + std::to_string(i) + " of buffer '" + std::string(name) +
                                       "', which has " + std::to_string(bytes.size()));
    return bytes[i] == poison_byte(poison_seed, i);
}

}  // namespace cllab::model
