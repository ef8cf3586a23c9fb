#include "core/stats.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"

namespace cllab {
namespace {

double log_factorial(std::size_t n) { return std::lgamma(static_cast<double>(n) + 1); }

/// Largest k for which [x(k), x(n-1-k)] (indices from 0) contains the median with probability 0.95 or more. The number
/// of samples below the median is Binomial(n, 1/2), so the interval misses with probability 2 * P(X <= k).
std::size_t interval_rank(std::size_t n) {
    double below = 0;
    std::size_t k = 0;
    for (std::size_t i = 0; i < n / 2; ++i) {
        // Use logarithms: from n = 1075 on, 0.5^n is below the smallest double.
        const double log_p =
            log_factorial(n) - log_factorial(i) - log_factorial(n - i) - static_cast<double>(n) * std::log(2.0);
        below += std::exp(log_p);
        if (2 * below > 0.05) break;
        k = i;
    }
    return k;
}

}  // namespace

double quantile(std::span<const double> sorted, double q) {
    if (sorted.empty()) throw Error(Blame::result, "a quantile needs at least one sample");
    const double position = std::clamp(q, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const auto above = std::min(below + 1, sorted.size() - 1);
    const double fraction = position - static_cast<double>(below);
    return sorted[below] + fraction * (sorted[above] - sorted[below]);
}

double median_of(std::vector<double> values) {
    std::ranges::sort(values);
    return quantile(values, 0.5);
}

Summary summarise(std::span<const double> sample) {
    if (sample.empty()) throw Error(Blame::result, "a summary needs at least one sample");
    std::vector<double> sorted(sample.begin(), sample.end());
    std::ranges::sort(sorted);
    Summary s;
    s.n = static_cast<unsigned>(sorted.size());
    s.min = sorted.front();
    s.max = sorted.back();
    s.q1 = quantile(sorted, 0.25);
    s.median = quantile(sorted, 0.5);
    s.q3 = quantile(sorted, 0.75);
    const std::size_t k = sorted.size() < least_for_interval ? 0 : interval_rank(sorted.size());
    s.low = sorted[k];
    s.high = sorted[sorted.size() - 1 - k];
    for (double& x : sorted) x = std::abs(x - s.median);
    std::ranges::sort(sorted);
    s.mad = quantile(sorted, 0.5);
    return s;
}

double relative_half_width(const Summary& s) {
    const double width = s.high - s.low;
    if (width == 0) return 0;
    if (s.median == 0) return std::numeric_limits<double>::infinity();
    return width / 2 / std::abs(s.median);
}

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
