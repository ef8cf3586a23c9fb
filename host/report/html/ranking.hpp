// What the ranked chart draws, on the page and alone.
#pragma once

#include <vector>

#include "report/html/context.hpp"
#include "report/html/markup.hpp"

namespace cllab::report::html {

/// Where seconds lie on the axis of a chart, from 0 to 1. Bars begin at zero; where times are so far apart that this
/// would hide the short ones, points on a logarithmic axis take their place: a bar has no length there.
struct TimeAxis {
    Scale scale;
    double at(double seconds) const;
};

/// The variants of a group on one device.
struct Ranking {
    std::vector<const GridCell*> timed;  ///< fastest first
    model::Rows failed;
    TimeAxis axis;
};
Ranking ranking_of(const GridGroup& group, std::size_t device);

/// "best", "tie", "value", or "apart" where it is not ranked.
const char* style_of(const Rank& rank);

}  // namespace cllab::report::html
