// From the time of a second visit over its distance to the sizes that one miss fills.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace cllab::model::cacheline {

/// Data beyond `bytes` from an aligned start costs `after` seconds, data within `before`.
struct Granule {
    std::uint64_t bytes = 0;
    double before = 0, after = 0;
};

/// `distance` ascending, bytes from an aligned start; `second` seconds of the second visit; `noise` what
/// two of them may differ by chance. A jump counts when it is 30 % and above the noise. The granule is the largest
/// power of two not above the first distance past the jump, because an aligned block of any smaller size would have
/// ended before.
inline std::vector<Granule> granules(std::span<const double> distance, std::span<const double> second, double noise) {
    std::vector<Granule> out;
    double level = second.empty() ? 0 : std::max(second.front(), 0.0);
    for (std::size_t i = 1; i < distance.size() && i < second.size(); ++i) {
        if (second[i] <= 1.3 * level || second[i] - level <= noise) continue;
        std::uint64_t bytes = 1;
        while (2.0 * static_cast<double>(bytes) <= distance[i]) bytes *= 2;
        out.push_back({bytes, level, second[i]});
        level = second[i];
    }
    return out;
}

}  // namespace cllab::model::cacheline
