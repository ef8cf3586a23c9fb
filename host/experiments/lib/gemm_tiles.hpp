// How gemm's variants with tiles in registers cut C: what cl/include/gemm.h takes as macros.
#pragma once

#include <string>

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
    std::size_t tiles_of_c(const Tiles& t) const { return lib::divide_up(m, t.m) * lib::divide_up(n, t.n); }
};

/// Reads the axes that only `pipelined` has. Throws Unsupported for tiles that the device cannot hold.
void choose_tiles(Sizes& sizes, const Device& device, Params& params);

/// A work-group for each tile of C, and the macros; of `pipelined` with copies and streams.
void launch_tiles(Setup& out, const Sizes& sizes, const Device& device, bool pipelined);

}  // namespace cllab::model::gemm
