// Two variants held against each other over several arrangements, as data. compare/ judges it, report/ prints it.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
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
    /// What a winner had to exceed: the margin, or the control's own distance from 1 where that is more.
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
enum class Control { left, right, both };

struct Comparison {
    std::string left, right;                                 ///< ids of the variants
    std::vector<std::pair<std::string, std::string>> point;  ///< left's, as resolved
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

}  // namespace cllab::model
