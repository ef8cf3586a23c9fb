// Which cells of one device and family may be compared, and how far each is from the fastest of its group.
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
    bool compared = false;    ///< ok, timed with an interval, and not alone in its group
    bool fastest = false;     ///< clearly before every other one
    bool indistinct = false;  ///< may be the fastest; of the row with the least cost too, when it is not alone in that
    double ratio = 1;         ///< cost over the least, >= 1
};

/// What one process with one placement of the buffers may be off, so that records of one arrangement say nothing below
/// it. Identical code under two names differed there by up to 11 % on CPUs and by 0.5 % on a GPU (`cllab run X --vs
/// X`).
double placement_margin(const model::Record& record);

/// True when a costs less than b beyond both intervals and beyond placement_margin. Costs are in one unit, both of one
/// device.
bool clearly_before(const model::Record& a, double cost_a, const model::Record& b, double cost_b);

struct Comparison {
    std::vector<const model::Record*> rows;  ///< the given rows, those of one group together, else in the given order
    std::vector<std::size_t> group;          ///< of each row
    std::vector<Rank> ranks;                 ///< of each row
    std::vector<std::string> axes;           ///< those that tell the groups apart
    bool groups_of_several = false;          ///< some group has more than one row, and there is more than one group
};

/// A group is every variant at one point. An axis whose value each variant chose for itself ("auto": the number of
/// items, the local size) does not split groups: it differs between the variants and follows from the other axes.
/// Cost is the time for the same work: by bandwidth where every row of the group has one, else by flop rate, else by
/// time. All rows are of one device and family.
Comparison compare(const std::vector<const model::Record*>& rows, const MayBeAuto& may_be_auto = {});

}  // namespace cllab::report
