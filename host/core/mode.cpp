#include "core/mode.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace cllab {

Mode half_sample_mode(std::span<const double> samples) {
    if (samples.empty()) return {};
    std::vector<double> sorted(samples.begin(), samples.end());
    std::ranges::sort(sorted);
    std::size_t first = 0, count = sorted.size();
    while (count > 3) {
        const std::size_t half = (count + 1) / 2;
        std::size_t best = first;
        for (std::size_t i = first; i + half <= first + count; ++i)
            if (sorted[i + half - 1] - sorted[i] < sorted[best + half - 1] - sorted[best]) best = i;
        first = best;
        count = half;
    }
    double value = (sorted[first] + sorted[first + count - 1]) / 2;
    if (count == 3)
        value = sorted[first + 1] - sorted[first] < sorted[first + 2] - sorted[first + 1]
                    ? (sorted[first] + sorted[first + 1]) / 2
                    : (sorted[first + 1] + sorted[first + 2]) / 2;
    const auto agreeing =
        std::ranges::count_if(sorted, [&](double s) { return std::abs(s - value) <= 0.03 * std::abs(value); });
    return {value, static_cast<double>(agreeing) / static_cast<double>(sorted.size())};
}

}  // namespace cllab
