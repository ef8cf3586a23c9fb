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
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "compare/verdict.hpp"
#include "model/regression.hpp"
#include "model/result.hpp"

namespace cllab::compare {

struct FamilyRules {
    double threshold = 0.02;    ///< a slower cell is slower by more than this
    double family_rate = 0.01;  ///< of runs on equal code that claim anything of any cell, at most
    /// Where the ratio of every arrangement is beyond it there is a verdict, however few there are. Arrangements of
    /// equal code were off by up to a factor of two under seven loads (verdict.hpp); this is its square.
    static constexpr double far = 4;
    unsigned cells = 1;         ///< tested together
    double share = 1;           ///< of family_rate that this look at the cells spends

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
