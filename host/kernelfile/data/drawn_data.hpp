// Data made by a rule or drawn at random.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/random.hpp"
#include "model/kernel_signature.hpp"
#include "model/operation.hpp"

namespace cllab::kernelfile {

enum class Draw {
    zero,
    counting,     ///< 0, 1, 2 …: all lanes of an element hold its number
    constant,     ///< `low`; for integers `least`
    uniform,      ///< this and all below are random
    sorted,       ///< uniform, in ascending order
    normal,       ///< Gaussian
    permutation,  ///< 0 to count - 1, each once
    powers,       ///< 1, 2, 4 or 8 of either sign: sums of 2Mi floats are exact in any order
    offsets,      ///< never falling, from 0 to `most`: the row starts of a sparse matrix
    one_hot,      ///< one 1 in each row of `most` elements
    text          ///< words of lowercase letters
};

/// Bounds: low <= x < high for floating-point types, least <= x <= most for integers.
struct Drawn {
    double low = 0, high = 1;  ///< normal: mean and standard deviation
    std::int64_t least = 0, most = 255;
    Draw draw = Draw::uniform;

    bool operator==(const Drawn&) const = default;
};

/// Why `count` elements of this type cannot be drawn so, in words after "whose elements"; empty: they can.
std::string undrawable(const model::ElementType& type, std::size_t count, const Drawn& drawn);

/// `count` elements. A type with unknown fields is filled with floats.
model::SharedBytes drawn_data(const model::ElementType& type, std::size_t count, std::uint64_t seed,
                              const Drawn& drawn);

/// Words of 2 to 10 characters; the first of them is a blank or ends a line, but not in the first word. A word takes
/// one random number for its length and one for each character.
void put_text(std::span<std::byte> out, const Random& random);

}  // namespace cllab::kernelfile
