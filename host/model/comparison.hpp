// The result of an A/B comparison of two variants over several arrangements. compare/ judges it, report/ prints it.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/result.hpp"

namespace cllab::model {

/// An estimate from log ratios, given as ratios: 1.02 is 2 % slower.
struct RatioEstimate {
    double ratio = 1;          ///< exp of the Hodges-Lehmann estimate
    double low = 0, high = 0;  ///< the interval, when `covered`
    double coverage = 0;       ///< coverage of the interval, at least the requested one; 0: no interval
    unsigned n = 0;            ///< arrangements

    bool covered() const { return coverage > 0; }
    /// Half the width of the interval in logarithms: 0.005 is 0.5 %. Infinite without one.
    double half_width() const { return covered() ? std::log(high / low) / 2 : std::numeric_limits<double>::infinity(); }
};

enum class Verdict {
    faster,  ///< left takes less time than right
    slower,
    same,       ///< within Judgement::within of each other
    undecided,  ///< the interval is too wide, or the control differs too much
    same_code,  ///< the machine code is equal, so any difference of the times is noise
};
const char* name(Verdict verdict);  ///< "faster", "same code": the JSON value

struct Judgement {
    Verdict verdict = Verdict::undecided;
    RatioEstimate ratio;    ///< time of left over time of right
    RatioEstimate control;  ///< ratio of one side to itself, in the same arrangements
    double within = 0;      ///< the largest difference that the interval allows; 0.01 is 1 %
    /// What a winner had to exceed: the margin or, if larger, the control's distance from 1.
    double floor = 0;
};

/// One arrangement: a fresh process, fresh buffers, a random order of preparation and of turns.
struct Arrangement {
    std::uint64_t seed = 0;  ///< seed of its order, placement and inputs
    /// Log of left's time over right's (compare::Differences). With Control::both, from four cells.
    double log_ratio = 0;
    double error = 0;    ///< standard error of log_ratio, from the rounds
    double control = 0;  ///< as log_ratio: the second build of a side over the first
    double control_error = 0;
    unsigned rounds = 0;
    bool same_memory = false;  ///< both sides took turns on the same buffers
    /// The share of its usable cores that each side had (cores_share of its records).
    double left_cores = 1, right_cores = 1;
};

/// The sides that are built twice. The two builds of a side take turns.
enum class Control { left, both };

struct Comparison {
    std::string left, right;         ///< ids of the variants; if the ids are equal, also the difference
    PointValues point, right_point;  ///< resolved points; `point` is that of the left side
    PointValues where{};             ///< values of `point` that differ from those of the run's other comparisons
    DeviceInfo device;
    std::string cache;  ///< "hot", "cold", "rotate"
    Control control_of = Control::left;
    std::vector<Arrangement> arrangements;
    Judgement judgement;
    double seconds = 0;   ///< total time of all arrangements
    std::string trouble;  ///< why there is no verdict, if an arrangement failed; else empty
    /// Possible disturbances before the first arrangement: "governor" -> "powersave". Unreadable ones are absent.
    std::map<std::string, std::string> conditions;
};

// Today's kernels compared with a baseline, cell by cell, as data. compare/ judges it, report/ prints it.
/// The change of a cell since the baseline, in the order of the table: worst first.
enum class CellChange {
    newly_wrong,    ///< ok in the baseline, wrong_result today
    newly_failing,  ///< ok in the baseline, another failure today
    other_results,  ///< the results differ, although the checks of both texts succeed
    slower,         ///< by more than the threshold, beyond the interval
    other_code,     ///< the text is equal but the machine code differs: another compiler, driver or processor
    still_failing,  ///< failed in the baseline and fails today
    undecided,
    incomparable,  ///< the baseline has the cell, but lacks the data to compare it, or has another launch
    vanished,      ///< the baseline has the cell, today's program does not
    added,         ///< today's program has the cell, the baseline does not
    fixed,         ///< failed in the baseline, ok today
    faster,        ///< by more than the threshold, beyond the interval
    same,          ///< the interval is within the threshold
    same_code,     ///< the machine code is equal, so nothing changed; timed only on request
    unsupported,   ///< the device cannot run the cell, neither today nor before
};
const char* name(CellChange change);  ///< "newly wrong", "same code": the JSON value

/// The direction of the times of a cell without a verdict.
enum class Lean {
    none,
    middle_slower,  ///< the estimated ratio is beyond the threshold
    all_slower,     ///< every ratio is beyond it; for recorded times: the intervals are farther apart than it
};

/// One test of a family of tests: is the ratio beyond the threshold on either side?
struct CellTest {
    RatioEstimate ratio;    ///< today over baseline; the intervals hold for all cells of the family together
    RatioEstimate control;  ///< today's second build over its first; n = 0: not measured
    /// What a change had to exceed: the threshold or, if larger, the control's distance from 1.
    double floor = 0;
    double p = 1;         ///< two-sided p-value of "the ratio is within the floor", corrected for the number of looks
    double adjusted = 1;  ///< p corrected by Holm for the number of cells
    /// The ratio of the arrangement nearest to 1; 1 if there are ratios on both sides of it.
    double nearest = 1;
};

struct RegressionCell {
    std::string id;
    std::vector<std::pair<std::string, std::string>> point;
    DeviceInfo device;
    CellChange change = CellChange::undecided;
    Lean lean = Lean::none;               ///< of an undecided cell, or one with other code
    std::string reason;                   ///< one line, if `change` alone says too little
    double before = 0, today = 0;         ///< seconds: recorded median of the baseline, and today's median; 0: none
    std::string before_text, today_text;  ///< SHA-256 of the kernel text of both sides
    std::optional<CellTest> test;
    std::vector<Arrangement> arrangements;  ///< left: today; right: the baseline, rebuilt
    double seconds = 0;                     ///< total time of the arrangements
    unsigned looks = 0;                     ///< how often its arrangements were judged
};

struct Regression {
    std::string baseline;
    std::vector<RegressionCell> cells;
    bool recorded = false;  ///< compared with the stored times instead of the stored text
    double threshold = 0.02, family_rate = 0.01;
    unsigned looks = 1;   ///< maximum number of looks at a cell
    unsigned tested = 0;  ///< number of cells in the family, for Holm's correction
    RatioEstimate shift;  ///< ratio common to all tested cells; n: number of cells
    double seconds = 0;
    std::map<std::string, std::string> conditions;  ///< possible disturbances at the start, as in Comparison
};

}  // namespace cllab::model
