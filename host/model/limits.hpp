// What an earlier profile of a device measured, as later commands take it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cllab::model {

/// One figure of a profile. Facts are joined by `id`, never by the name that people read.
struct Figure {
    std::string id;  ///< "<family>.<finding>": "fma.peak.float", "latency.l1.size"
    std::string name, unit;
    double value = 0, low = 0, high = 0;
    bool of_profile = true;  ///< false: measured since

    /// As people read it beside what rests on it.
    std::string title() const { return of_profile ? name : name + ", measured again"; }
};

/// Figures that no kernel can beat, and where the caches end. Zeros: not measured.
struct Limits {
    std::string utc;                         ///< when the profile was taken
    double float_peak = 0, double_peak = 0;  ///< FLOP/s
    double bandwidth = 0;                ///< B/s of the fastest level; only when a sweep through the levels was made
    std::string bandwidth_name;          ///< the figure it is from, as people read it
    double empty_launch_seconds = 0;     ///< START to END
    std::uint64_t last_level_bytes = 0;  ///< smallest footprint of a chase seen not to fit, or largest region read at a
                                         ///< cache's bandwidth; only when memory was seen beyond
    std::vector<Figure> figures;         ///< all of the profile
    /// Bytes that one instance of each level of a CPU holds by the operating system, first level first.
    std::vector<std::uint64_t> caches;
    unsigned units = 1;          ///< that the driver reports
    int compute_capability = 0;  ///< NVIDIA: 90 for sm_90; 0 elsewhere
    /// Bytes and seconds a load of the chases in random order, by ascending bytes; of two kinds of pages the slower
    /// one.
    std::vector<std::pair<double, double>> scattered;

    /// Seconds of a load of a chase in random order through so many bytes, between the two footprints around; 0 where
    /// there are none.
    double scattered_load(double bytes) const {
        for (std::size_t i = 0; i < scattered.size(); ++i) {
            if (scattered[i].first == bytes) return scattered[i].second;
            if (scattered[i].first < bytes) continue;
            if (i == 0) break;
            const auto& [x0, y0] = scattered[i - 1];
            const auto& [x1, y1] = scattered[i];
            return y0 * std::pow(y1 / y0, std::log(bytes / x0) / std::log(x1 / x0));
        }
        return 0;
    }

    /// Nothing where the profile has no such figure, or none above zero.
    const Figure* find(const std::string& id) const {
        const auto found = std::ranges::find_if(figures, [&](const Figure& f) { return f.id == id; });
        return found == figures.end() || !(found->value > 0) ? nullptr : &*found;
    }
};

}  // namespace cllab::model
