// The verdict of a comparison of two kernels, from one number per arrangement.
//
// The problem: within one process and one placement of the buffers, a kernel's time has a constant bias of a few per
// cent. Many rounds then give a narrow interval around a wrong value: of 40 comparisons of a kernel with itself, 38
// named a winner. Therefore an arrangement (a fresh process, fresh buffers, a random order of preparation and of sides)
// gives one log ratio, and only arrangements count as evidence.
//
// Because the sides are assigned at random, the log ratios of equal kernels are symmetric around zero, whatever their
// distribution. Wilcoxon's signed-rank interval around the Hodges-Lehmann estimate needs only that, and one outlier
// moves it little. (Hollander, Wolfe, Chicken: Nonparametric Statistical Methods, 3rd edition, 3.1 to 3.3.) It uses log
// ratios in units of their own errors. An error that does not depend on the sides leaves the sign random, so the
// coverage stays exact, and an arrangement that a busy machine spoiled counts for less.
//
// The evidence of a comparison: one log ratio per arrangement, with its error from the arrangement's rounds.
//
// On a busy host, two cells that alternate within milliseconds often, but not always, find the machine in the same
// state. The differences of their logs then have a narrow core and clusters up to a factor of two away: one cell shared
// a core with another process, or two of a driver's threads shared one, and the other cell did not. The median is in
// the core, but its position in it depends on the clusters. So, starting from the median, Tukey's biweight finds the
// centre of the core; its width is that of the closest quarter of the differences. All differences within a pair of
// rounds are used, not only those within a round. On rounds recorded on two machines under seven loads, this is more
// accurate than medians, quartiles, and all estimates from processor time.
//
// The reliability of arrangements varies by a factor of several, because other processes come and go. It is estimated
// from an arrangement's own differences, by the width of their middle, which does not depend on the sides.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "model/comparison.hpp"
#include "model/result.hpp"

namespace cllab::compare {

using model::Judgement;
using model::RatioEstimate;
using model::Verdict;

/// One finite log ratio per arrangement, and the error of each, above 0. Only the proportions of the errors count.
/// Without errors, all count equally.
struct Evidence {
    std::vector<double> log_ratios, errors;
    /// The part of the log ratios that missing cores may explain. Below 0: the left side had a smaller share of its
    /// usable cores, and with the right side's share would be faster by this much. 0 if the shares differ by less than
    /// a tenth.
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

/// The samples of a cell in an arrangement: seconds, and their rounds in ascending order; no rounds means 0, 1, 2, ...
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
        double log_ratio;  ///< centre of the core of the differences; NaN: no usable differences
        double error;      ///< its standard error, as far as rounds are independent of each other
    };
    Centre centre() const;

private:
    std::vector<double> logs_;
    std::size_t rounds_ = 0;
};

/// The estimate with its interval. No interval if even the whole range cannot cover `coverage`: below 8 arrangements at
/// 0.99, below 6 at 0.95. Empty evidence gives n = 0. The interval also contains the ratio without Evidence::tilt.
RatioEstimate estimate(const Evidence& evidence, double coverage = 0.99);

/// Sets the interval of `out` and its coverage from a rank statistic with this density: the narrowest symmetric range
/// of `sorted` that covers `coverage`; none if the whole range does not.
void invert(const std::vector<double>& density, const std::vector<double>& sorted, double coverage, double tilt,
            RatioEstimate& out);

/// P(W <= w) of Wilcoxon's signed-rank statistic for n values without ties; exact.
double signed_rank_below(unsigned n, unsigned w);

struct Rules {
    /// Coverage of the interval. A winner must be beyond the interval, the margin and the control. In simulation, at
    /// most 0.7 % of comparisons of equal code then name a winner (8 to 20 arrangements; noise normal, heavy-tailed, or
    /// in two clusters).
    double coverage = 0.98;
    double margin = 0.005;   ///< a winner is faster by more than this, beyond its interval
    double same = 0.02;      ///< the largest difference that may be called the same
    double precise = 0.005;  ///< half-width of the interval at which sampling ends
    unsigned least = 8;      ///< arrangements before the first look
    /// A verdict ends the test, even if the interval is wide. Only for the first look: looks repeated until there is a
    /// winner find one among equals.
    bool verdict_suffices = false;
};

/// The log ratio that a difference must exceed: the larger of the margin and the control's distance from 0.
double floor_of(double margin, const RatioEstimate& control);

/// `control`: log ratios of one side with itself in the same arrangements; if empty, the margin alone is the floor.
/// Faster or slower: the whole interval is beyond the floor. Same: all of it is within `Rules::same`. Otherwise
/// undecided.
Judgement judge(const Evidence& evidence, const Evidence& control, bool same_code, const Rules& rules = {});

/// Equal machine code with equal arguments, sizes, groups and data: any difference of the times is noise.
bool same_code(const model::Record& a, const model::Record& b);
/// Unknown parts of a launch count as equal.
bool same_launch(const model::Record& a, const model::Record& b);

/// True when more arrangements would not change the verdict: at least `least`, and an interval as narrow as `precise`.
bool enough(const Evidence& evidence, const Rules& rules = {});

/// Multiple of the requested time that is planned if arrangements are slow; one more arrangement may follow.
inline constexpr double late = 3;

/// Seconds of sampling per arrangement, for all its cells, in a comparison of `seconds`; `overhead` is the rest of an
/// arrangement's time.
///
/// On a busy machine, arrangements of one kernel differ by sampling noise more than by placement (0.3 % either way), so
/// the time spent in samples counts. Sampling therefore takes three times the overhead as long as 16 arrangements fit.
/// It takes at least as much as the overhead, because less would waste the start, and at least half of it if 11
/// arrangements would not fit. With eight, the interval is the whole range, and one spoiled arrangement decides it. In
/// rounds recorded next to three and six busy processes, in equal time, 8 arrangements with all samples find a
/// difference of 2 % in 53 of 100 cases, and 11 with half of the samples in 62. Sampling takes even less if a driver's
/// start alone uses the time for the minimum number of arrangements (2 s on some GPUs).
double sampling_seconds(double overhead, double seconds);

/// Seconds of sampling after which an arrangement is known well enough for Rules::precise, from the errors of
/// `arrangements`, each sampled for the same time. More sampling would gain nothing, because arrangements differ by
/// more. Infinite for fewer than two.
double sampling_that_suffices(std::span<const model::Arrangement> arrangements, std::span<const double> seconds,
                              const Rules& rules);

// Many cells at once: is any slower than before, with one false-alarm rate for all of them?
//
// The problem: sixty cells tested at 95 % each give a false alarm in 95 % of the runs, and a threshold raised by hand
// hides real changes. Here each cell gives one p-value of "its ratio is within the floor". Holm's step-down correction
// (Scandinavian Journal of Statistics 6, 1979) limits the chance of any false claim among all cells to `family_rate`,
// whatever the cells have in common. Each printed interval is wide enough to hold for all cells together (Bonferroni).
//
// An undecided cell may get more arrangements and another look, and each look is one more chance of a false claim. So
// the number of looks and each look's share of the rate are fixed before the first. A look's p-value is divided by its
// share, and the smallest of a cell's looks counts. The chance that it is at most p is at most p, whenever and why ever
// the looks ended (Bonferroni again).

struct FamilyRules {
    double threshold = 0.02;    ///< a slower cell is slower by more than this
    double family_rate = 0.01;  ///< maximum share of runs on equal code that claim a change of any cell
    /// If the ratio of every arrangement is beyond this, there is a verdict even with few arrangements. Arrangements of
    /// equal code were off by up to a factor of two under seven loads (verdict.hpp); this is its square.
    static constexpr double far = 4;
    unsigned cells = 1;  ///< number of cells tested together
    double share = 1;    ///< share of family_rate that this look at the cells uses

    /// For one look at one cell of the family: the coverage that its interval needs, and the arrangements below which
    /// there can be none.
    Rules of_cell() const;
};

/// One look at the cells of a family.
struct Look {
    double share;    ///< FamilyRules::share
    double at_most;  ///< time of one cell, in multiples of the time that a cell may take
    double precise;  ///< Rules::precise
};
/// The first look tests all cells, the others those still undecided. The shares add up to 1.
inline constexpr std::array<Look, 3> looks{{{0.5, 1, 0.005}, {0.25, 3, 0.003}, {0.25, 8, 0.002}}};
/// Seconds for each of `undecided` cells in look `number`, counted from 1: an equal share of `left`, the unused time of
/// all cells; of half of it if another look may follow. At most the look's own limit. `seconds`: time allowed per cell.
double seconds_of_look(std::size_t number, double left, std::size_t undecided, double seconds);

/// The steps of testing the cells 0 to n - 1 of a family.
struct LookSteps {
    /// Runs replicates for about `seconds`, and tests the differences.
    std::function<void(std::size_t cell, double seconds, std::size_t number)> look;
    std::function<void()> correct;                  ///< after the looks of one number
    std::function<bool(std::size_t cell)> is_open;  ///< undecided, and more arrangements may help
    std::function<double(std::size_t cell)> spent;  ///< seconds, by all its looks
};
/// Maximum number of looks at a cell if there are `cells`: a single cell has no time of others to use.
std::size_t looks_at_a_cell(std::size_t cells);
/// The share of the error rate for look `number` of `most`.
double share_of_look(std::size_t number, std::size_t most);
/// Takes all looks at the first `tested` of `cells` cells. Each cell may take `seconds`. Cells that are not tested
/// leave their time to the others.
void take_looks(std::size_t tested, std::size_t cells, double seconds, const LookSteps& steps);

/// Two-sided p-value of the log ratios being symmetric around a value within [-floor, floor]; Wilcoxon's signed rank
/// test, exact. 1 for no log ratios.
double signed_rank_p(const Evidence& evidence, double floor);

/// The same for two sets of independent processes, logs of their times: Wilcoxon's rank sum test, exact.
double rank_sum_p(std::span<const double> today, std::span<const double> before, double floor);

/// The ratio of today over before for independent processes: the median of all differences of logs, with the interval
/// of the rank sum test; no interval if even the whole range cannot cover `coverage`. n: processes of the smaller side.
RatioEstimate estimate_between(std::span<const double> today, std::span<const double> before, double coverage);

/// Adjusted p-values of a family of tests by Holm's step-down method, in the order given.
std::vector<double> holm(std::span<const double> p_values);

/// Tests one cell from its arrangements. The p-value is that of the look, divided by the look's share.
model::CellTest test_cell(const Evidence& evidence, const Evidence& control, const FamilyRules& rules);

/// The result of all looks at a cell: the latest look, with the smallest p-value of all.
model::CellTest looked_again(const model::CellTest& before, model::CellTest latest);

/// Tests one cell from the times of independent processes. `shift`: the log ratio common to all cells, which is
/// subtracted.
model::CellTest test_recorded(std::span<const double> today, std::span<const double> before, double shift,
                              const FamilyRules& rules);

/// Fills `adjusted` of every test.
void correct(std::span<model::CellTest* const> tests);

/// slower, faster, same or undecided, after correct().
model::CellChange change_of(const model::CellTest& test, const FamilyRules& rules);

/// The direction in which an undecided cell's ratios point.
model::Lean lean_of(const model::CellTest& test);
/// The direction of today's time, compared with the recorded time of the same text from another compiler.
model::Lean lean_of_recorded(const model::Timing& today, const model::Timing& before, double threshold);

/// The shift common to the cells: Hodges-Lehmann over their log ratios, with a 95 % interval from 6 cells on.
RatioEstimate common_shift(std::span<const double> log_ratios);

}  // namespace cllab::compare
