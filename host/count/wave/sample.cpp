#include "count/wave/sample.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <ranges>

namespace cllab::count {
namespace {

/// The 97.5 % quantile of Student's t, to 1 % from two degrees of freedom on (Abramowitz and Stegun, 26.7.5).
double student(double freedom) {
    if (freedom < 2) return 12.706;
    if (freedom < 3) return 4.303;
    constexpr double x = 1.959964, cube = x * x * x, fifth = cube * x * x, seventh = fifth * x * x;
    return x + (cube + x) / (4 * freedom) + (5 * fifth + 16 * cube + 3 * x) / (96 * freedom * freedom) +
           (3 * seventh + 19 * fifth + 17 * cube - 15 * x) / (384 * freedom * freedom * freedom);
}

}  // namespace

double confidence(std::span<const double> drawn, double population) {
    const auto n = static_cast<double>(drawn.size());
    if (n >= population) return 0;
    if (n < 2) return std::numeric_limits<double>::infinity();
    const double mean = std::accumulate(drawn.begin(), drawn.end(), 0.0) / n;
    double squares = 0;
    for (const double x : drawn) squares += (x - mean) * (x - mean);
    return student(n - 1) * std::sqrt(squares / (n - 1) / n * (1 - n / population));
}

void GroupSample::begin(std::uint64_t groups, std::size_t most) {
    *this = {};
    groups_ = groups;
    most_ = most;
}

std::vector<std::uint64_t> GroupSample::next() {
    if (counted_ < certain()) {
        std::vector<std::uint64_t> out{0, groups_ - 1, groups_ / 2};
        out.resize(certain());
        return out;
    }
    if (drawn_.size() >= pairs() || counted_ >= most_) return {};
    std::uint64_t pair = 0;
    do pair = 1 + random_() % pairs();
    while (!drawn_.insert(pair).second);
    return {pair, groups_ - 1 - pair};
}

void GroupSample::counted(const std::array<double, watched>& amounts) {
    const bool begins = counted_ >= certain() && (counted_ - certain()) % 2 == 0;
    for (std::size_t i = 0; i < watched; ++i) {
        all_[i] += amounts[i];
        if (counted_ < certain()) continue;
        if (begins)
            of_pair_[i].push_back(amounts[i]);
        else
            of_pair_[i].back() += amounts[i];
    }
    ++counted_;
}

bool GroupSample::is_enough(bool all_code_ran) const {
    // So few pairs that are alike leave 5 % of the others free to differ (0.95^59 < 0.05).
    constexpr std::size_t least_pairs = 59;
    constexpr double narrow = 0.01;
    const auto number = static_cast<double>(of_pair_[0].size()), of = static_cast<double>(pairs());
    if (number >= of) return true;
    if (of_pair_[0].size() < least_pairs || !all_code_ran) return false;
    return std::ranges::all_of(std::views::iota(std::size_t{0}, watched), [&](std::size_t i) {
        const double mean = all_[i] / static_cast<double>(counted_);
        return confidence(of_pair_[i], of) <= narrow * 2 * mean;
    });
}

}  // namespace cllab::count
