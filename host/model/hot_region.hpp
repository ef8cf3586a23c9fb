// The part of a kernel to look at first: the loop, or the straight path, with the largest share.
#pragma once

#include <optional>
#include <vector>

#include "model/hot.hpp"

namespace cllab::model {

/// Blocks of one function with the same innermost loop, or in none. They live as long as the Hot they are of.
struct HotRegion {
    std::vector<const HotBlock*> blocks;  ///< by address
    double share = 0;                     ///< of what_is_shared
    const char* of = "the samples";       ///< what_is_shared
    unsigned instructions = 0;            ///< of its blocks together
    bool is_loop() const { return !blocks.front()->loops.empty(); }
    std::uint64_t header() const { return blocks.front()->loops.back(); }  ///< of a loop
};

/// All of them, largest share first; none where the hot code is unknown.
std::vector<HotRegion> hot_regions(const Hot& hot);
/// "loop at 0x1a68, 93.1 % of the samples", "straight-line code from 0x1160, …"
std::string place(const HotRegion& region);

}  // namespace cllab::model
