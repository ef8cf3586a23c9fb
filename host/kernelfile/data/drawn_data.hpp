// Data made by a rule or drawn at random, each kind as some kernels need it.
#pragma once

#include <cstdint>
#include <string>

#include "model/kernel_signature.hpp"
#include "model/operation.hpp"

namespace cllab::kernelfile {

enum class Draw {
    zero,
    counting,     ///< 0, 1, 2 …: an element's number in all of its lanes
    constant,     ///< `low`, or of integers `least`
    uniform,      ///< from here on at random
    sorted,       ///< uniform, in ascending order
    normal,       ///< Gaussian
    permutation,  ///< 0 to count - 1, each once
    powers,       ///< 1, 2, 4 or 8 of either sign: sums of 2Mi floats are exact in any order
    offsets,      ///< from 0 to `most`, never falling: where the rows of a sparse matrix begin
    one_hot,      ///< in each row of `most` elements one 1
    text          ///< words of small letters
};

/// Bounds of floating types low <= x < high, of integers least <= x <= most.
struct Drawn {
    double low = 0, high = 1;  ///< normal: mean and standard deviation
    std::int64_t least = 0, most = 255;
    Draw draw = Draw::uniform;

    bool operator==(const Drawn&) const = default;
};

/// Why elements of this type, or so many of them, cannot be drawn so, in words behind "which"; empty: they can.
std::string undrawable(const model::ElementType& type, std::size_t count, const Drawn& drawn);

/// `count` elements; opaque types get floats.
model::SharedBytes drawn_data(const model::ElementType& type, std::size_t count, std::uint64_t seed,
                              const Drawn& drawn);

}  // namespace cllab::kernelfile
