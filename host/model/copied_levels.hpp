// Copies that lie in one level of a CPU's caches each.
#pragma once

#include <utility>
#include <vector>

#include "model/device.hpp"

namespace cllab::model {

/// By level, first level first: bytes of both buffers of a copy of which each core has its part in its own caches. More than `first`, the levels
/// before cannot hold most of it in all cores; up to `second` it fits. Zeros of a level that no copy shows; empty where the
/// system does not describe the caches.
inline std::vector<std::pair<double, double>> copied_in_levels(const Device& device) {
    std::vector<std::pair<double, double>> out;
    const auto& levels = device.host_cache_levels;
    const double units = device.compute_units > 0 ? device.compute_units : 1;
    double below = 4096 * units;
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const double here = static_cast<double>(levels[i]) * (i + 1 < levels.size() ? units : 1);  // the last one is one for all
        // What fits in the first level is copied in less time than its launch takes: 16 and 72 KiB at 30 to 36 GB/s, where 3 MiB of the second
        // level took 65 (two cores of a Xeon, PoCL 3.1, 2026-11-23).
        if (i == 0 && levels.size() > 1) out.emplace_back(0, 0);
        else out.emplace_back(2 * below, 0.75 * here);
        below = here;
    }
    return out;
}

}  // namespace cllab::model
