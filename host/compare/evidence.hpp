// The evidence of a comparison: one log ratio per arrangement, with its error from the arrangement's rounds.
//
// On a busy host two cells that take turns within milliseconds often find the same machine, and as often not: the
// differences of their logs have a narrow core, and beside it clusters as far off as a factor of two, where one cell
// had a neighbor on its core, or both of a driver's threads on one core, and the other had not. The median lies in the
// core, but somewhere in it, by how many of the others are on either side. So from the median on the middle of the core
// is looked for (Tukey's biweight), whose width is that of the closest quarter of the differences. All differences
// within a pair of rounds are taken, not only those of a round. By rounds recorded on two machines under seven loads
// that is closer than medians, than quartiles, and than anything made of processor time.
//
// Arrangements differ by several times in how far they are to be relied on, for another process comes and goes. An
// arrangement's own differences say how far: by the width of their middle, which is the same when the sides change
// places.
#pragma once

#include <span>
#include <vector>

#include "model/comparison.hpp"

namespace cllab::compare {

/// One log ratio per arrangement, finite, and the error of each, above 0, which counts only in proportion to those of
/// the others. None given: all alike.
struct Evidence {
    std::vector<double> log_ratios, errors;
    /// The part of the log ratios that lost cores may explain. Below 0: the left side had fewer of its usable cores,
    /// and with all of them would be faster by this much. 0 when both sides lack equally many.
    double tilt = 0;

    Evidence() = default;
    Evidence(std::vector<double> all_log_ratios, std::vector<double> their_errors = {})
        : log_ratios(std::move(all_log_ratios)), errors(std::move(their_errors)) {}
    Evidence(std::span<const double> all_log_ratios) : log_ratios(all_log_ratios.begin(), all_log_ratios.end()) {}

    std::size_t size() const { return log_ratios.size(); }
    double error(std::size_t i) const { return errors.empty() ? 1 : errors[i]; }
};

/// The spread between arrangements of one kernel that their rounds do not show (`cllab run X --vs X --json`, on two
/// cores). Added to each error as the root of the sum of squares.
inline constexpr double between_arrangements = 0.003;

Evidence ratios_of(std::span<const model::Arrangement> arrangements);
Evidence controls_of(std::span<const model::Arrangement> arrangements);

/// The samples of a cell in an arrangement: seconds, and the rounds they were taken in, ascending, or none where that
/// is 0, 1, 2 and so on.
struct Turns {
    std::span<const double> seconds;
    std::span<const unsigned> rounds;
};

/// Log ratios of samples that were taken within a pair of rounds (ABBA), each of a left cell with each of a right one.
class Differences {
public:
    /// `left` and `right` may have several cells each, which took turns.
    void add(std::span<const Turns> left, std::span<const Turns> right);

    struct Centre {
        double log_ratio;  ///< the middle of their core; NaN: there is nothing usable
        double error;      ///< its standard error, as far as rounds are independent of each other
    };
    Centre centre() const;

private:
    std::vector<double> logs_;
    std::size_t rounds_ = 0;
};

}  // namespace cllab::compare
