// What set-ups are put together from: launches, build options, trip counts, rows that lie apart.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/lib/data.hpp"
#include "experiments/lib/sizes.hpp"
#include "model/experiment.hpp"

namespace cllab::model::lib {

/// A step named `part` that launches kernel `entry`, the variant's own when that is empty.
inline Launch launch(std::string part, std::string entry, const Extent& global, const Extent& local,
                     std::vector<std::string> args, unsigned queue = 0) {
    return {std::move(entry), global, local, std::move(args), {}, std::move(part), queue};
}

/// "NAME=number" each, for -D; `suffix` stands behind the number, as in "NAME=7u".
inline std::vector<std::string> defines(std::initializer_list<std::pair<const char*, std::uint64_t>> numbers,
                                        const char* suffix = "") {
    std::vector<std::string> out;
    for (const auto& [name, number] : numbers) out.push_back(name + ("=" + std::to_string(number)) + suffix);
    return out;
}

/// The argument that a Slope sets.
inline Value trips() { return value("trips", std::int32_t{0}); }

/// `groups` work-groups of `items` work-items.
inline void launch_groups(Setup& out, std::size_t groups, std::size_t items) {
    out.local = Extent(items);
    out.global = Extent(items * groups);
}

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

/// A chase of one work-item from place to place, `visits` in a trip, that the next launch goes on with. `entry` links
/// `slot`, the places of all visits in their order, `unit` bytes each and `offset` bytes into it.
struct Chase {
    std::vector<std::uint32_t> slot;
    std::uint64_t unit = 8, offset = 0;
    std::int32_t visits = 1;
    const char* visit = "loads";  ///< what a check calls them

    /// The chase must stand where so many visits from the first lead to.
    Check check() const {
        return [chase = *this](const Buffers& buffers) -> std::optional<std::string> {
            const auto done = static_cast<std::uint64_t>(buffers.trips) * static_cast<std::uint64_t>(chase.visits) *
                              buffers.operations;
            const std::uint64_t expected = chase.slot[done % chase.slot.size()] * chase.unit + chase.offset,
                                got = buffers.as<std::uint64_t>("state")[0];
            if (got == expected) return std::nullopt;
            return "after " + std::to_string(done) + " " + chase.visit + " the chase stands at byte " +
                   std::to_string(got) + ", expected " + std::to_string(expected);
        };
    }
    /// Through global memory: `entry` links `bytes` of a chain first.
    void set_up(Setup& out, const char* entry, std::uint64_t bytes, const Device& device) const {
        out.args = {Input{"slot", share(slot)}, Scratch{"chain", bytes},
                    InOut{"state", share(std::vector<std::uint64_t>{slot[0] * unit + offset, 0})},
                    value("count", static_cast<std::uint32_t>(slot.size())), trips()};
        out.steps = {
            launch("link", entry, Extent(is_simulator(device) ? 64 : 4096), {}, {"slot", "chain", "state", "count"}),
            launch("chase", "", Extent(1), Extent(1), {"chain", "state", "trips"})};
        out.accumulates = true;
        out.check = check();
    }
};

}  // namespace cllab::model::lib
