// Which cells of one device and family may be compared, and how far each is from the fastest of its group. Every page
// that ranks cells, names a winner or says why there is none, prints these conclusions.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "model/result.hpp"

namespace cllab::report {

using model::Rows;
using model::rows_of;

/// True when the axis `axis` of `family` may have been "auto", so that the variant or the device chose its value. An
/// empty function means true for all axes. That holds within one run, where all variants are given the same values.
using MayBeAuto = std::function<bool(const std::string& family, const std::string& axis)>;

struct Rank {
    bool compared = false;    ///< ok, timed with an interval, and others took turns with it
    bool fastest = false;     ///< clearly before all others of its set
    bool indistinct = false;  ///< may be the fastest; set for the row with the least cost, too, unless it is alone
    double ratio = 1;         ///< cost divided by the least of its set, >= 1
    std::size_t set = 0;      ///< rows with the same number took turns at one point, with one problem
    bool unlike = false;      ///< other rows took turns with it, and may do other work: their buffers or results differ
    std::string per{};        ///< "byte" or "operation" if the ratio is of rates, as the work differs; else empty
    double allowed = 0;       ///< if indistinct: required difference from the least cost, 0.2 is 20 %
};

struct RankedCell {
    const model::Record* record = nullptr;  ///< null: this variant was not run there
    Rank rank;
};

/// "fastest", "~1.02x", "3.00x", of rates "3.00x/B" or "3.00x/op"; empty for a row that is not compared.
std::string rank_text(const Rank& rank);

/// True when a and b took turns and a clearly costs less. All samples of b must be longer than three quarters of those
/// of a, by more than placement can change. The difference must exceed what a table cannot tell from a difference of
/// the kernels. Costs are in one unit.
bool clearly_before(const model::Record& a, double cost_a, const model::Record& b, double cost_b);

struct Comparison {
    bool apart = false;              ///< timed rows of one group did not take turns with each other
    Rows rows;                       ///< the given rows, by group; groups with ranked rows are sorted, fastest first
    std::vector<std::size_t> group;  ///< by row
    std::vector<Rank> ranks;         ///< by row
    std::vector<std::string> axes;   ///< axes that tell the groups apart
    bool groups_of_several = false;  ///< some group has more than one row, and there is more than one group
};

/// A group is all variants at one point. It ranks variants that took turns. It does not rank variants with other
/// results, which a line `differ` allows. It does not rank variants of unlike buffers, unless their bytes are declared
/// or a reference shows that they solve one problem. An axis whose value each variant chose itself ("auto": the number
/// of items, the local size) does not split groups: it differs between the variants and follows from the other axes.
/// Cost is the time for the same work: from the bandwidth if all ranked rows have one, else from the FLOP rate, else
/// the time itself. All rows must be of one device and family.
Comparison compare(const Rows& rows, const MayBeAuto& may_be_auto = {});

/// A note for tables with groups whose rows did not all take turns.
inline constexpr const char* apart_note =
    "Only cells that took turns in one run are ranked against each other; to rank the others, run them together or use "
    "--vs.";

}  // namespace cllab::report
