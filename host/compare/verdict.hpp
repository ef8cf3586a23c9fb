// What a comparison of two kernels may say, from one number per arrangement.
//
// The problem: within one process and one placement of the buffers, the time of a kernel is biased by a few per cent,
// and the bias is constant. Many rounds then give a narrow interval around a wrong value: of 40 comparisons of a kernel
// with itself, 38 named a winner. What is done here: an arrangement (a fresh process, fresh buffers, a random order of
// preparation and of sides) gives one log ratio, and only arrangements are counted as evidence.
//
// Because the sides are assigned at random, the log ratios of equal kernels are symmetric around zero whatever their
// distribution is. Wilcoxon's signed-rank interval around the Hodges-Lehmann estimate needs just that, and one wild
// arrangement moves it little. (Hollander, Wolfe, Chicken: Nonparametric Statistical Methods, 3rd edition, 3.1 to 3.3.)
// It is taken of log ratios in units of their own errors: an error that does not depend on which side is which leaves a
// sign as random as it was, so the coverage stays exact, and an arrangement that a busy machine spoiled counts for
// less.
//
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

/// No interval where even the whole range cannot cover `coverage`: below 8 arrangements at 0.99, below 6 at 0.95.
/// Nothing given: n = 0. The interval holds what the ratio may be without Evidence::tilt too.
RatioEstimate estimate(const Evidence& evidence, double coverage = 0.99);

/// Fills the interval of `out` and what it covers: between the values of `sorted` that a rank statistic of this density
/// leaves out on either side, as few as cover `coverage`; nothing where all of them do not.
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
    /// A verdict of that look is enough, however wide the interval. Of the first alone: who looks until there is a
    /// winner finds one among equals.
    bool verdict_suffices = false;
};

/// The log ratio beyond which a difference counts: the margin, or what the control of a side with itself came to.
double floor_of(double margin, const RatioEstimate& control);

/// `control`: the log ratio of one side with itself in the same arrangements; may be empty, and then the margin alone
/// is the floor. Verdict: faster or slower when the whole interval lies beyond the floor; same when all of it lies
/// within `Rules::same`; else undecided.
Judgement judge(const Evidence& evidence, const Evidence& control, bool same_code, const Rules& rules = {});

/// Equal machine code with equal arguments, sizes, groups and data: any difference of the times is noise.
bool same_code(const model::Record& a, const model::Record& b);
/// Unknown parts of a launch count as equal.
bool same_launch(const model::Record& a, const model::Record& b);

/// True when more arrangements would not change the verdict: at least `least`, and an interval as narrow as `precise`.
bool enough(const Evidence& evidence, const Rules& rules = {});

/// Times the time asked for, planned for where arrangements are slow; one more until a comparison ends.
inline constexpr double late = 3;

/// Seconds of sampling, of all its cells together, in an arrangement of a comparison that may take `seconds`, where all
/// the rest of an arrangement takes `overhead`. On a busy machine arrangements of one kernel differ by what the rounds
/// within one leave open, not by their placement (0.3 % either way): then what counts is the time spent in
/// samples. So three times the rest, as long as 16 arrangements fit, but as much as the rest in any case, since less
/// would waste the start; down to half as much where 11 would not fit: of eight arrangements the interval is the whole
/// range, and one that was spoiled is all of it. By recorded rounds beside three and six busy processes, in the same
/// time: 8 with all of their samples find 2 % in 53 of 100, 11 with half of them in 62. Less still where a driver's
/// start alone takes what there is for the fewest arrangements that can say anything (2 s on some GPUs).
double sampling_seconds(double overhead, double seconds);

/// Seconds of sampling that leave an arrangement known well enough for Rules::precise, by the error of those so far:
/// each was sampled for as many seconds. What is spent beyond that says nothing, for then arrangements differ by more.
/// Infinite for fewer than two.
double sampling_that_suffices(std::span<const model::Arrangement> arrangements, std::span<const double> seconds,
                              const Rules& rules);

// Many cells at once: is any slower than before, with one rate of false alarms for all of them together?
//
// The problem: sixty cells tested at 95 % each give a false alarm in 95 % of the runs, and raising the bar by hand
// until they stop hides what is real. Here each cell gives one p-value of "its ratio lies within the floor", Holm's
// step-down correction (Scandinavian Journal of Statistics 6, 1979) makes the chance of any false claim among all cells
// at most `family_rate`, whatever the cells have in common, and each printed interval is wide enough to hold for all
// cells together (Bonferroni).
//
// A cell that is undecided may be given more arrangements and looked at again, and each look is one more chance of a
// false claim. So the number of looks and what each may spend of the rate are fixed before the first: a look's p-value
// is divided by its share, the least of a cell's looks counts, and its chance of being at most p is at most p, whenever
// and why ever the looks ended (Bonferroni again).

struct FamilyRules {
    double threshold = 0.02;    ///< a slower cell is slower by more than this
    double family_rate = 0.01;  ///< of runs on equal code that claim anything of any cell, at most
    /// Where the ratio of every arrangement is beyond it there is a verdict, however few there are. Arrangements of
    /// equal code were off by up to a factor of two under seven loads (verdict.hpp); this is its square.
    static constexpr double far = 4;
    unsigned cells = 1;  ///< tested together
    double share = 1;    ///< of family_rate that this look at the cells spends

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
/// All cells are looked at first, those that stay undecided once or twice again. The shares add up to 1.
inline constexpr std::array<Look, 3> looks{{{0.5, 1, 0.005}, {0.25, 3, 0.003}, {0.25, 8, 0.002}}};
/// Time that each of `undecided` cells gets for look `number`, from 1, where `left` of all cells' time is not used: an
/// even part of it, of half of it where another look may follow, and no more than the look's own limit. `seconds`: that
/// a cell may take.
double seconds_of_look(std::size_t number, double left, std::size_t undecided, double seconds);

/// The steps of testing the cells 0 to n - 1 of a family.
struct LookSteps {
    /// Takes arrangements for about `seconds`, and tests.
    std::function<void(std::size_t cell, double seconds, std::size_t number)> look;
    std::function<void()> correct;                  ///< after the looks of one number
    std::function<bool(std::size_t cell)> is_open;  ///< undecided, and more arrangements may help
    std::function<double(std::size_t cell)> spent;  ///< seconds, by all its looks
};
/// How many looks there may be at a cell where `cells` may take their time: one alone has nobody's time to go on with.
std::size_t looks_at_a_cell(std::size_t cells);
/// The share of a look where there may be `most`.
double share_of_look(std::size_t number, std::size_t most);
/// All looks at `tested` cells of those `cells` that may take `seconds` each; the others take none, and leave it.
void take_looks(std::size_t tested, std::size_t cells, double seconds, const LookSteps& steps);

/// Two-sided p-value of the log ratios being symmetric around a value within [-floor, floor]; Wilcoxon's signed rank
/// test, exact. 1 for no log ratios.
double signed_rank_p(const Evidence& evidence, double floor);

/// The same for two sets of independent processes, logs of their times: Wilcoxon's rank sum test, exact.
double rank_sum_p(std::span<const double> today, std::span<const double> before, double floor);

/// Ratio of today over before for independent processes: the median of all differences of logs, with the interval that
/// inverts the rank sum test; none where even the whole range cannot cover `coverage`. n: the processes of the smaller
/// side.
RatioEstimate estimate_between(std::span<const double> today, std::span<const double> before, double coverage);

/// Adjusted p-values of a family of tests by Holm's step-down method, in the order given.
std::vector<double> holm(std::span<const double> p_values);

/// One cell by its arrangements; the p-value is the look's, divided by its share.
model::CellTest test_cell(const Evidence& evidence, const Evidence& control, const FamilyRules& rules);

/// A cell by all of its looks: the latest with the least p-value.
model::CellTest looked_again(const model::CellTest& before, model::CellTest latest);

/// One cell by the times of independent processes. `shift`: the log ratio that all cells share, taken out of this
/// one's.
model::CellTest test_recorded(std::span<const double> today, std::span<const double> before, double shift,
                              const FamilyRules& rules);

/// Fills `adjusted` of every test.
void correct(std::span<model::CellTest* const> tests);

/// slower, faster, same or undecided, after correct().
model::CellChange change_of(const model::CellTest& test, const FamilyRules& rules);

/// Where an undecided cell's ratios lie.
model::Lean lean_of(const model::CellTest& test);
/// Where the time of today lies that was recorded for the same text before, by another compiler.
model::Lean lean_of_recorded(const model::Timing& today, const model::Timing& before, double threshold);

/// The shift common to the cells: Hodges-Lehmann over their log ratios, with a 95 % interval from 6 cells on.
RatioEstimate common_shift(std::span<const double> log_ratios);

}  // namespace cllab::compare
