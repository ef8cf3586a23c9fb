// How gemm's variants with tiles in registers cut C: what cl/include/gemm.h takes as macros.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "experiments/lib/sizes.hpp"

namespace cllab::model::gemm {

/// Rows and columns of a work-group, columns of a work-item (of 8 rows), and the teams of work-items that share the
/// tile's k among them.
struct Tiles {
    std::size_t m = 128, n = 128, item_n = 8, slices = 1;
    bool stream = false;  ///< the work-groups are those that are resident at once, and share all tiles' k

    std::size_t group() const { return m * n / 8 / item_n * slices; }
    std::string name() const { return std::to_string(m) + "x" + std::to_string(n); }
};

struct Sizes {
    std::size_t m = 0, n = 0, k = 0, tile_k = 0, pad = 0;
    Tiles tiles{};
    bool packed = false;  ///< the tiles are read from copies of A and B

    bool aligned() const { return n % 4 == 0 && k % 4 == 0; }
    // As whole tiles cover them.
    std::size_t whole_m() const { return lib::round_up(m, tiles.m); }
    std::size_t whole_n() const { return lib::round_up(n, tiles.n); }
    std::size_t whole_k() const { return lib::round_up(k, tile_k * tiles.slices); }
    bool whole() const { return m == whole_m() && n == whole_n() && k == whole_k(); }
};

/// A work-group for each tile of C, and the macros.
inline void launch_tiles(Setup& out, const Sizes& sizes) {
    const auto& tiles = sizes.tiles;
    out.local = Extent(tiles.group(), 1);
    out.global = Extent(sizes.whole_n() / tiles.n * tiles.group(), sizes.whole_m() / tiles.m);
    const std::vector<std::pair<const char*, std::size_t>> macros{
        {"TILE_M", tiles.m},           {"TILE_N", tiles.n},          {"TILE_K", sizes.tile_k},
        {"ITEM_N", tiles.item_n},      {"SLICES", tiles.slices},     {"GEMM_ALIGNED", sizes.aligned()},
        {"GEMM_WHOLE", sizes.whole()}, {"GEMM_PACKED", sizes.packed}};
    for (const auto& [name, number] : macros) out.defines.push_back(name + ("=" + std::to_string(number)));
}

}  // namespace cllab::model::gemm
