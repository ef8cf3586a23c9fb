// What an earlier profile of a device measured, as later commands take it.
#pragma once

#include <cstdint>
#include <string>

namespace cllab::model {

/// One figure of a profile. Facts are joined by `id`, never by the name that people read.
struct Figure {
    std::string id;          ///< "<family>.<finding>": "fma.peak.float", "latency.l1.size"
    std::string name, unit;
    double value = 0, low = 0, high = 0;
};

/// Figures that no kernel can beat, and where the caches end. Zeros: not measured.
struct Limits {
    std::string utc;                     ///< when the profile was taken
    double float_peak = 0, double_peak = 0;  ///< FLOP/s
    double bandwidth = 0;                ///< B/s of the fastest level; only when a sweep through the levels was made
    std::string bandwidth_name;          ///< the figure it is from, as people read it
    double empty_launch_seconds = 0;     ///< START to END
    std::uint64_t last_level_bytes = 0;  ///< smallest footprint of a chase seen not to fit, or largest region read at a cache's
                                         ///< bandwidth; only when memory was seen beyond
};

}  // namespace cllab::model
