// An A/B comparison of two variants over several arrangements, as data. compare/ judges it, report/ prints it.
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
    double coverage = 0;       ///< of the interval, at least what was asked for; 0 when there is none
    unsigned n = 0;            ///< arrangements

    bool covered() const { return coverage > 0; }
    /// Half the width of the interval in logarithms: 0.005 is 0.5 %. Infinite without one.
    double half_width() const { return covered() ? std::log(high / low) / 2 : std::numeric_limits<double>::infinity(); }
};

enum class Verdict {
    faster,  ///< left takes less time than right
    slower,
    same,       ///< within Judgement::within of each other
    undecided,  ///< the interval allows too much, or the machine told equal code apart
    same_code,  ///< the machine code that ran is equal, so a difference is the machine's
};
const char* name(Verdict verdict);  ///< "faster", "same code": the JSON value

struct Judgement {
    Verdict verdict = Verdict::undecided;
    RatioEstimate ratio;    ///< time of left over time of right
    RatioEstimate control;  ///< of one side with itself, in the same arrangements
    double within = 0;      ///< the largest difference that the interval allows; 0.01 is 1 %
    /// What a winner had to exceed: the margin or, if larger, the control's distance from 1.
    double floor = 0;
};

/// One arrangement: a fresh process, fresh buffers, a random order of preparation and of turns.
struct Arrangement {
    std::uint64_t seed = 0;  ///< of its order, placement and inputs
    double log_ratio = 0;    ///< log of left's time over right's: the median over samples of a pair of rounds, with
                             ///< Control::both of four cells
    double error = 0;        ///< of log_ratio: its standard error by the rounds
    double control = 0;      ///< as log_ratio, of what was built once more over its side
    double control_error = 0;
    unsigned rounds = 0;
    bool same_memory = false;  ///< both sides took turns on the same buffers
    /// Part that each side had of the cores it could use (cores_share of its records).
    double left_cores = 1, right_cores = 1;
};

/// Which side of a comparison is built once more and takes turns with itself.
enum class Control { left, both };

struct Comparison {
    std::string left, right;         ///< ids of the variants; of one variant, also what differs
    PointValues point, right_point;  ///< as resolved; `point` is left's
    PointValues where{};             ///< values of `point` that differ from those of the run's other comparisons
    DeviceInfo device;
    std::string cache;  ///< "hot", "cold", "rotate"
    Control control_of = Control::left;
    std::vector<Arrangement> arrangements;
    Judgement judgement;
    double seconds = 0;   ///< that all arrangements took
    std::string trouble;  ///< why there is no verdict, when an arrangement failed; empty otherwise
    /// Possible disturbances before the first arrangement: "governor" -> "powersave". Unreadable ones are absent.
    std::map<std::string, std::string> conditions;
};

// Today's kernels compared with a baseline, cell by cell, as data. compare/ judges it, report/ prints it.
/// The change of a cell since the baseline, in the order of the table: worst first.
enum class CellChange {
    newly_wrong,    ///< ok in the baseline, wrong_result today
    newly_failing,  ///< ok in the baseline, another failure today
    other_results,  ///< today's text and the baseline's, both right by themselves, leave different results
    slower,         ///< by more than the threshold, beyond the interval
    other_code,     ///< the text is equal and the machine code is not: another compiler, driver or processor
    still_failing,  ///< failed in the baseline and fails today
    undecided,
    incomparable,  ///< the baseline has it, but not what it takes to hold today's against it, or not for this launch
    vanished,      ///< the baseline has it, today's program does not
    added,         ///< today's program has it, the baseline does not
    fixed,         ///< failed in the baseline, ok today
    faster,        ///< by more than the threshold, beyond the interval
    same,          ///< the interval lies within the threshold
    same_code,     ///< the machine code is equal, so nothing changed; not timed unless asked for
    unsupported,   ///< the device cannot do it, today as before
};
const char* name(CellChange change);  ///< "newly wrong", "same code": the JSON value

/// The direction of the times of a cell without a verdict.
enum class Lean {
    none,
    middle_slower,  ///< the middle of the ratios is beyond the threshold
    all_slower,     ///< every ratio is; of recorded times: the intervals lie apart by more
};

/// One test of a family of tests: is the ratio beyond the threshold on either side?
struct CellTest {
    RatioEstimate ratio;    ///< today over baseline; its interval holds for all cells of the family together
    RatioEstimate control;  ///< today over today built once more; n = 0: none was taken
    /// What a change had to exceed: the threshold or, if larger, the control's distance from 1.
    double floor = 0;
    double p = 1;  ///< two-sided, of the ratio being within the floor; what looking more than once costs is in it
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
    std::string reason;                   ///< one line where the change alone says too little
    double before = 0, today = 0;         ///< seconds: the baseline's recorded median, and today's; 0: none
    std::string before_text, today_text;  ///< SHA-256 of the kernel text of both sides
    std::optional<CellTest> test;
    std::vector<Arrangement> arrangements;  ///< left is today, right the baseline rebuilt
    double seconds = 0;                     ///< that the arrangements took
    unsigned looks = 0;                     ///< how often its arrangements were judged
};

struct Regression {
    std::string baseline;
    std::vector<RegressionCell> cells;
    bool recorded = false;  ///< against the stored times instead of the stored text
    double threshold = 0.02, family_rate = 0.01;
    unsigned looks = 1;   ///< at each cell, at most
    unsigned tested = 0;  ///< cells in the family that Holm's correction is for
    RatioEstimate shift;  ///< common to all tested cells; n: cells
    double seconds = 0;
    std::map<std::string, std::string> conditions;  ///< what may disturb, as it was at the beginning; as in Comparison
};

}  // namespace cllab::model
