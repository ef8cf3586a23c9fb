// Copies that lie in the last level of a CPU's caches.
#pragma once

#include <optional>
#include <utility>

#include "model/device.hpp"

namespace cllab::model {

/// Bytes of both buffers of a copy: more than `first`, the cores' own levels cannot hold most of it; up to `second` it
/// fits in the last one, which is one for all. Nothing where the system does not describe the caches. A copy that fits
/// the cores' own levels ends before all cores have joined the launch (`cllab run bandwidth_copy` on PoCL: two cores
/// copy 3 MiB at 65 GB/s and 1.5 MiB at 102 to 114 GB/s).
inline std::optional<std::pair<double, double>> copied_in_last_level(const Device& device) {
    const auto& levels = device.host_cache_levels;
    if (levels.empty()) return std::nullopt;
    const double units = device.compute_units > 0 ? device.compute_units : 1;
    const double below = units * (levels.size() > 1 ? static_cast<double>(levels[levels.size() - 2]) : 4096.0);
    return std::pair{2 * below, 0.75 * static_cast<double>(levels.back())};
}

}  // namespace cllab::model
