// Today's kernels held against a baseline, cell by cell, as data. compare/ judges it, report/ prints it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/comparison.hpp"

namespace cllab::model {

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

/// Where the times of a cell lie that has no verdict of them.
enum class Lean {
    none,
    middle_slower,  ///< the middle of the ratios is beyond the threshold
    all_slower,     ///< every ratio is; of recorded times: the intervals lie apart by more
};

/// One test of a family of tests: is the ratio beyond the threshold on either side?
struct CellTest {
    RatioEstimate ratio;    ///< today over baseline; its interval holds for all cells of the family together
    RatioEstimate control;  ///< today over today built once more; n = 0: none was taken
    /// What had to be exceeded: the threshold, or the control's own distance from 1 where that is more.
    double floor = 0;
    double p = 1;  ///< two-sided, of the ratio being within the floor; what looking more than once costs is in it
    double adjusted = 1;  ///< p corrected by Holm for the number of cells
    /// The ratio of the arrangement that is nearest to 1; 1 where they lie on both sides of it.
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
