// From bandwidth over line spacing to the interleave of memory channels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

namespace cllab::model::channels {

struct Interleave {
    std::uint64_t bytes = 0;  ///< largest power-of-two spacing that still reaches every channel
    double ratio = 1;         ///< bandwidth at the best over that at the worst power-of-two spacing
};

/// `spacing` ascending in bytes, `bandwidth` in any unit; spacings that are no power of two are passed over. Nothing
/// when no power of two costs a quarter of the bandwidth of the smaller ones, or a larger one is quicker again: hashed
/// addresses. A spacing that misses channels misses at least as many when it is doubled.
inline std::optional<Interleave> find_interleave(std::span<const double> spacing, std::span<const double> bandwidth) {
    double best = 0, worst = 0;
    std::uint64_t full = 0;
    for (std::size_t i = 0; i < spacing.size() && i < bandwidth.size(); ++i) {
        const auto bytes = static_cast<std::uint64_t>(spacing[i]);
        if ((bytes & (bytes - 1)) != 0 || !(bandwidth[i] > 0)) continue;
        if (worst > 0 && bandwidth[i] >= std::min(0.75 * best, 1.25 * worst)) return std::nullopt;
        if (best == 0 || bandwidth[i] >= 0.75 * best) {
            best = bandwidth[i] > best ? bandwidth[i] : best;
            full = bytes;
        } else if (worst == 0 || bandwidth[i] < worst) {
            worst = bandwidth[i];
        }
    }
    if (worst == 0) return std::nullopt;
    return Interleave{full, best / worst};
}

}  // namespace cllab::model::channels
