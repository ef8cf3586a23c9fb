// What an earlier `cllab profile` of the same device measured: figures that no kernel can beat, and where the caches end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/result.hpp"

namespace cllab::run {

/// Zeros: not measured.
struct Limits {
    std::string utc;                     ///< when the profile was taken
    double float_peak = 0, double_peak = 0;  ///< FLOP/s
    double bandwidth = 0;                ///< B/s of the fastest level; only when a sweep through the levels was made
    std::string bandwidth_name;          ///< the figure it is from
    double empty_launch_seconds = 0;     ///< START to END
    std::uint64_t last_level_bytes = 0;  ///< smallest footprint of a chase seen not to fit, or largest region read at a cache's
                                         ///< bandwidth; only when memory was seen beyond
};

/// Why the record's rates or its time cannot be: the figure, the limit and the profile it is from; else nothing. 5 % above
/// a limit are allowed, for the spread of both. `one_launch`: the time is that of a single launch by the event clock.
std::optional<std::string> beyond_peak(const model::Record& record, const Limits& limits, bool one_launch);

struct LastLevel {
    std::uint64_t bytes = 0;
    std::string from;  ///< "measured, profile of 2026-11-21T10:00:00Z", "reported by the driver", …
};

/// The size of the last-level cache: measured, else as known of the device, else a guess by its type.
LastLevel last_level(const model::Device& device, const std::optional<Limits>& limits);

/// Bytes that the cells of one comparison may have on the device together; what does not fit is measured in a second batch.
double memory_budget(const model::Device& device);

}  // namespace cllab::run
