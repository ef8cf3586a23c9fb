// What set-ups are put together from: launches, build options, trip counts, rows that lie apart.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "experiments/lib/data.hpp"
#include "model/experiment.hpp"

namespace cllab::model::lib {

/// A step named `part` that launches kernel `entry`, the variant's own when that is empty.
inline Launch launch(std::string part, std::string entry, const Extent& global, const Extent& local,
                     std::vector<std::string> args, unsigned queue = 0) {
    return {std::move(entry), global, local, std::move(args), {}, std::move(part), queue};
}

/// "NAME=number" each, for -D; `unit` stands behind the number, as in "NAME=7u".
inline std::vector<std::string> defines(std::initializer_list<std::pair<const char*, std::uint64_t>> numbers,
                                        const char* unit = "") {
    std::vector<std::string> out;
    for (const auto& [name, number] : numbers) out.push_back(name + ("=" + std::to_string(number)) + unit);
    return out;
}

/// The argument that a Slope sets.
inline Value trips() { return value("trips", std::int32_t{0}); }

/// What lies between rows that are apart: a quiet NaN that shows in the result of a kernel that uses it.
inline constexpr std::uint32_t gap_word = 0x7FC0DEAD;

/// A matrix of floats with rows of `row` >= `columns` words behind `start` words; the matrix itself when that is what
/// it is.
inline SharedBytes rows_apart(const SharedBytes& matrix, std::size_t columns, std::size_t row, std::size_t start = 0) {
    if (row == columns && start == 0) return matrix;
    const std::size_t rows = matrix.size() / sizeof(float) / columns;
    return filled<float>(start + rows * row, [=](std::span<float> out) {
        const auto from = view<float>(matrix);
        std::fill_n(out.begin(), start, std::bit_cast<float>(gap_word));
        in_parallel(rows, 256, [&](std::size_t begin, std::size_t end) {
            for (auto r = begin; r < end; ++r) {
                const auto to = std::copy_n(from.data() + r * columns, columns, out.data() + start + r * row);
                std::fill_n(to, row - columns, std::bit_cast<float>(gap_word));
            }
        });
    });
}

}  // namespace cllab::model::lib
