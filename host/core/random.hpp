// Fast reproducible random data: SplitMix64 (Steele, Lea and Flood 2014). A seed gives the same input everywhere.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cllab {

inline std::uint64_t mix64(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

/// Sequence of 64-bit words; usable as a UniformRandomBitGenerator.
class Random {
public:
    using result_type = std::uint64_t;
    explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull) {}
    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return ~result_type{0}; }
    result_type operator()() {
        const auto x = mix64(state_);
        state_ += 0x9E3779B97F4A7C15ull;
        return x;
    }
    /// The same as `words` calls with ignored results.
    void skip(std::uint64_t words) { state_ += words * 0x9E3779B97F4A7C15ull; }
    Random skipped(std::uint64_t words) const {
        auto out = *this;
        out.skip(words);
        return out;
    }
    /// Uniform in [0, bound), bound > 0, by multiply-shift (bias below 2^-32 for 32-bit bounds).
    std::uint64_t below(std::uint64_t bound) { return below((*this)(), bound); }
    /// That of a given word.
    static std::uint64_t below(std::uint64_t word, std::uint64_t bound) {
        return static_cast<std::uint64_t>((static_cast<unsigned __int128>(word) * bound) >> 64);
    }
    /// The same for a bound up to 2^32, in 64 bits, which vectors have.
    static std::uint64_t below_32(std::uint64_t word, std::uint64_t bound) {
        return ((word >> 32) * bound + ((word & UINT32_MAX) * bound >> 32)) >> 32;
    }
    /// Uniform in [low, high).
    float real(float low, float high) { return low + (high - low) * static_cast<float>((*this)() >> 40) * 0x1p-24f; }

private:
    std::uint64_t state_;
};

/// 0 .. count-1 in random order, by Fisher and Yates. Followed cyclically, the order is one cycle through all numbers,
/// drawn uniformly among all such cycles.
std::vector<std::uint32_t> random_order(std::size_t count, std::uint64_t seed);

/// The numbers below `count`, at most 2^32, in a random order. Each place is computed without the others. For large
/// counts: below about 64, it draws some orders more often than others.
class Permutation {
public:
    static constexpr std::size_t at_once = 1024;

    Permutation(std::size_t count, Random random);
    /// The numbers of the places from `first`, at most `at_once`.
    void put(std::size_t first, std::span<std::uint32_t> to) const;

private:
    struct Round {
        std::uint32_t add, odd;
    };
    /// Permutes the numbers up to `mask_`, for each operation can be undone.
    std::uint32_t stepped(std::uint32_t number) const {
        for (const auto& round : rounds_) {
            number = (number + round.add) * round.odd & mask_;
            number ^= number >> shift_;
        }
        return number;
    }
    std::uint32_t last_, mask_;
    int shift_;
    std::array<Round, 4> rounds_{};
};

/// Fills with the words mix64(start + i * 0x9E3779B97F4A7C15) for i = 0, 1 ..., each word's low byte first.
void fill_mixed(std::span<std::byte> bytes, std::uint64_t start);

/// Fills with the words of Random(seed).
inline void fill_random(std::span<std::byte> bytes, std::uint64_t seed) {
    fill_mixed(bytes, seed * 0x9E3779B97F4A7C15ull);
}

}  // namespace cllab
