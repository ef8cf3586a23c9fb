// Random text: see drawn_data.hpp.
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/parallel.hpp"
#include "core/widest.hpp"
#include "kernelfile/data/drawn_data.hpp"

namespace cllab::kernelfile {

namespace {

// About as frequent as in English.
constexpr std::string_view letters = "eeeeeeetttttaaaaoooiiinnnsssrrrhhhddllluuccmmfwygpbvk";

}  // namespace

void put_text(std::span<std::byte> out, const Random& random) {
    constexpr std::size_t least = 2, lengths = 9, numbers = parallel_piece / 4;  // of a piece
    struct Walk {
        std::size_t number = 0, characters = 0;  // of all words so far
        void add_word(std::uint64_t word) {
            const auto length = least + Random::below_32(word, lengths);
            number += 1 + length, characters += length;
        }
    };
    const auto pieces = out.size() / least * (least + 1) / numbers + 1;
    const auto from = [random](std::size_t number) {
        auto own = random;
        own.skip(number);
        return own;
    };
    // Which number begins a word depends on all words before. So each piece is walked from every number that may begin
    // its first word. Such walks soon meet.
    std::vector<std::array<Walk, least + lengths>> walks(pieces);
    each_in_parallel(pieces, [&](std::size_t piece) {
        auto& all = walks[piece];
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = {piece * numbers + i};
        Walk rest;
        for (;;) {
            const auto [behind, ahead] = std::ranges::minmax_element(all, {}, &Walk::number);
            rest.number = behind->number;
            if (rest.number == ahead->number || rest.number >= (piece + 1) * numbers) break;
            behind->add_word(from(rest.number)());
        }
        while (rest.number < (piece + 1) * numbers) rest.add_word(from(rest.number)());
        for (auto& walk : all) walk = {std::max(walk.number, rest.number), walk.characters + rest.characters};
    });
    std::vector<Walk> starts(pieces);
    for (std::size_t piece = 0; piece + 1 < pieces; ++piece) {
        const auto& walk = walks[piece][starts[piece].number - piece * numbers];
        starts[piece + 1] = {walk.number, starts[piece].characters + walk.characters};
    }
    constexpr std::size_t copied = 16;  // for each word, whose length is less
    each_in_parallel(pieces, [&](std::size_t piece) {
        const auto [first, before] = starts[piece];
        if (before >= out.size()) return;
        std::array<char, numbers + copied> letter, text;  // no vector, which costs more than its letters
        std::array<std::uint8_t, numbers + copied> length, ends_line;
        widest([own = from(piece * numbers), all = letter.size(), letter = letter.data(), length = length.data(),
                ends_line = ends_line.data()]() mutable {
            for (std::size_t i = 0; i < all; ++i) {
                const auto word = own();
                letter[i] = static_cast<char>(Random::below_32(word, letters.size()));
                length[i] = static_cast<std::uint8_t>(least + Random::below_32(word, lengths));
                ends_line[i] = word <= UINT64_MAX / 12;
            }
        });
        for (auto& one : letter) one = letters[static_cast<std::size_t>(one)];
        std::size_t size = 0;
        for (auto number = first - piece * numbers; number < numbers; number += 1 + length[number]) {
            std::memcpy(&text[size], &letter[number + 1], copied);
            if (before + size > 0) text[size] = ends_line[number + 1] ? '\n' : ' ';
            size += length[number];
        }
        std::memcpy(out.data() + before, text.data(), std::min(size, out.size() - before));
    });
}

}  // namespace cllab::kernelfile
