#include "model/pairing.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/stats.hpp"

namespace cllab::model {
namespace {

constexpr double no_difference = 0.01;

/// The distance from 1 of a variant's ratio to itself, one round over the next.
double floor_of(std::span<const double> times) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i + 1 < times.size(); i += 2)
        if (times[i] > 0 && times[i + 1] > 0) ratios.push_back(times[i] / times[i + 1]);
    if (ratios.empty()) return 0;
    return std::exp(std::abs(std::log(summarise(ratios).median))) - 1;
}

}  // namespace

Pairing pair_up(std::span<const double> left, std::span<const double> right) {
    Pairing out;
    const std::size_t rounds = std::min(left.size(), right.size());
    std::vector<double> ratios;
    for (std::size_t i = 0; i < rounds; ++i)
        if (left[i] > 0 && right[i] > 0) ratios.push_back(left[i] / right[i]);
    out.rounds = static_cast<unsigned>(ratios.size());
    if (ratios.empty()) return out;
    const auto s = summarise(ratios);
    out.ratio = s.median;
    out.low = s.low;
    out.high = s.high;
    out.floor = std::max(floor_of(left.first(rounds)), floor_of(right.first(rounds)));
    if (out.rounds < least_for_interval) return out;
    const double within = std::max(out.floor, no_difference);
    if (out.high < 1 && out.ratio < 1 / (1 + out.floor))
        out.verdict = Verdict::faster;
    else if (out.low > 1 && out.ratio > 1 + out.floor)
        out.verdict = Verdict::slower;
    else if (out.low >= 1 / (1 + within) && out.high <= 1 + within)
        out.verdict = Verdict::same;
    return out;
}

}  // namespace cllab::model
