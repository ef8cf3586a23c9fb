// Random text: see drawn_data.hpp.
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <string_view>
#include <vector>

#include "core/parallel.hpp"
#include "core/widest.hpp"
#include "kernelfile/data/drawn_data.hpp"

namespace cllab::kernelfile {

namespace {

// About as frequent as in English.
constexpr std::string_view letters = "eeeeeeetttttaaaaoooiiinnnsssrrrhhhddllluuccmmfwygpbvk";
constexpr std::size_t least = 2, lengths = 9;
constexpr std::size_t words = 1024;  // of a piece

// Each half of a random number draws one word: the upper 16 bits its length, the lower ones the character before it.
std::uint64_t half(std::uint64_t number, std::size_t which) { return number >> 32 * which & UINT32_MAX; }

std::size_t length(std::uint64_t half) { return least + ((half >> 16) * lengths >> 16); }

char in_front(std::uint64_t half) { return (half & UINT16_MAX) <= UINT16_MAX / 12 ? '\n' : ' '; }

}  // namespace

void put_text(std::span<std::byte> out, const Random& random) {
    // Words and letters have a sequence of random numbers each. A letter's number depends on its place only.
    const Random of_words(random.skipped(0)()), of_letters(random.skipped(1)());
    std::vector<std::size_t> begins{0};  // of the pieces
    while (begins.back() < out.size()) {
        const auto known = begins.size(), mean = words * (2 * least + lengths - 1) / 2;
        begins.resize(known + (out.size() - begins.back()) / mean + 1);
        in_parallel(begins.size() - known, parallel_piece / words, [&](std::size_t piece, std::size_t end) {
            for (; piece < end; ++piece)
                widest(
                    [own = of_words.skipped((known + piece - 1) * (words / 2)), to = &begins[known + piece]]() mutable {
                        for (std::size_t i = 0; i < words; i += 2) {
                            const auto number = own();
                            *to += length(half(number, 0)) + length(half(number, 1));
                        }
                    });
        });
        std::partial_sum(begins.begin() + known - 1, begins.end(), begins.begin() + known - 1);
    }
    static const auto pairs = [] {
        std::array<std::array<char, 2>, letters.size() * letters.size()> all;
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i] = {letters[i / letters.size()], letters[i % letters.size()]};
        return all;
    }();
    each_in_parallel(begins.size() - 1, [&](std::size_t piece) {
        if (begins[piece] >= out.size()) return;
        constexpr std::size_t most = words * (least + lengths), of_number = 4;  // letters
        const auto skipped = begins[piece] % of_number, size = begins[piece + 1] - begins[piece] + skipped;
        std::array<std::uint16_t, most / 2> pair;
        std::array<char, most> text;
        std::array<std::uint8_t, words> size_of;
        std::array<char, words> before;
        widest([letter = of_letters.skipped(begins[piece] / of_number), word = of_words.skipped(piece * (words / 2)),
                size, pair = pair.data(), size_of = size_of.data(), before = before.data()]() mutable {
            for (std::size_t i = 0; i < size; i += of_number) {
                const auto number = letter();
                pair[i / 2] = static_cast<std::uint16_t>((number >> 32) * pairs.size() >> 32);
                pair[i / 2 + 1] = static_cast<std::uint16_t>((number & UINT32_MAX) * pairs.size() >> 32);
            }
            for (std::size_t i = 0; i < words; i += 2) {
                const auto number = word();
                for (std::size_t k = 0; k < 2; ++k) {
                    size_of[i + k] = static_cast<std::uint8_t>(length(half(number, k)));
                    before[i + k] = in_front(half(number, k));
                }
            }
        });
        for (std::size_t i = 0; i < size; i += 2) std::memcpy(&text[i], pairs[pair[i / 2]].data(), 2);
        for (std::size_t i = 0, at = skipped; i < words; at += size_of[i++])
            if (piece + i > 0) text[at] = before[i];
        std::memcpy(out.data() + begins[piece], &text[skipped], std::min(size - skipped, out.size() - begins[piece]));
    });
}

}  // namespace cllab::kernelfile
