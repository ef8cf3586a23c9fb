// Which groups of a launch are counted, and how many.
//
// The first, the last and the middle group are counted always, each for itself: borders are unlike the rest. The others
// are drawn as pairs: one group and its mirror image from the other end of the launch. Where work grows linearly from
// group to group, each pair has the mean. Pairs are drawn at random without replacement until the 95 % confidence
// interval of every watched mean is narrow. `confidence` says what an interval is.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <vector>

namespace cllab::count {

/// Groups that are counted always, of so many.
inline std::uint64_t certain_groups(std::uint64_t groups) { return groups < 3 ? groups : 2 + groups % 2; }

/// Half of the 95 % confidence interval of the mean of `population` values, from `drawn`, a sample without replacement:
/// Student's t with finite-population correction. Infinite if fewer than two of several values were drawn.
double confidence(std::span<const double> drawn, double population);

class GroupSample {
public:
    static constexpr std::size_t watched = 5;

    /// `most`: groups to be counted at most.
    void begin(std::uint64_t groups, std::size_t most);
    /// The groups to be counted next, by number; none where all or enough are.
    std::vector<std::uint64_t> next();
    /// What the next of them was found to do.
    void counted(const std::array<double, watched>& amounts);
    std::size_t certain() const { return certain_groups(groups_); }
    /// Whether the intervals are narrow. `all_code_ran`: no work can be in code that was not seen.
    bool is_enough(bool all_code_ran) const;

private:
    std::uint64_t pairs() const { return (groups_ - certain()) / 2; }

    std::uint64_t groups_ = 0;
    std::size_t most_ = 0, counted_ = 0;
    std::mt19937_64 random_;
    std::set<std::uint64_t> drawn_;
    std::array<double, watched> all_{};                 ///< sums over the counted groups
    std::array<std::vector<double>, watched> of_pair_;  ///< by pair
};

}  // namespace cllab::count
