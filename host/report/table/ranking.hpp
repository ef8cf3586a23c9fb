// Which cells of one device and family may be compared, and how far each is from the fastest of its group. Every page
// that ranks, names a winner or says why there is none prints what is concluded here.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "model/result.hpp"

namespace cllab::report {

using model::Rows;
using model::rows_of;

/// True when the axis `axis` of `family` may have been "auto": its value in a record is then what the variant or the
/// device chose. An empty function says so of every axis, which holds within one run: there all variants are given the
/// same values.
using MayBeAuto = std::function<bool(const std::string& family, const std::string& axis)>;

struct Rank {
    bool compared = false;    ///< ok, timed with an interval, and others took turns with it
    bool fastest = false;     ///< clearly before every other one
    bool indistinct = false;  ///< may be the fastest; of the row with the least cost too, when it is not alone in that
    double ratio = 1;         ///< cost over the least of its set, >= 1
    std::size_t set = 0;      ///< rows with the same number took turns at one point
    double allowed = 0;       ///< of an indistinct one: by how much it must cost more than the least, 0.2 is 20 %
};

struct RankedCell {
    const model::Record* record = nullptr;  ///< nothing: this variant was not run there
    Rank rank;
};

/// "fastest", "~1.02x", "3.00x"; empty for a row that is not compared.
std::string rank_text(const Rank& rank);

/// True when a costs less than b beyond both intervals, beyond the middle halves of their samples and beyond what a
/// table cannot tell from a difference of the kernels, and they took turns. Costs are in one unit.
bool clearly_before(const model::Record& a, double cost_a, const model::Record& b, double cost_b);

struct Comparison {
    bool apart = false;              ///< timed rows of one group took no turns with each other
    Rows rows;                       ///< the given rows, those of one group together, else in the given order
    std::vector<std::size_t> group;  ///< of each row
    std::vector<Rank> ranks;         ///< of each row
    std::vector<std::string> axes;   ///< those that tell the groups apart
    bool groups_of_several = false;  ///< some group has more than one row, and there is more than one group
};

/// A group is every variant at one point; of a group those are ranked that took turns. An axis whose value each variant
/// chose for itself ("auto": the number of items, the local size) does not split groups: it differs between the
/// variants and follows from the other axes. Cost is the time for the same work: by bandwidth where every row of the
/// group has one, else by flop rate, else by time. All rows are of one device and family.
Comparison compare(const Rows& rows, const MayBeAuto& may_be_auto = {});

/// For below tables of which rows of one group took no turns.
inline constexpr const char* apart_note =
    "Only cells that took turns in one run are ranked against each other; to rank the others, run them together or use "
    "--vs.";

}  // namespace cllab::report
