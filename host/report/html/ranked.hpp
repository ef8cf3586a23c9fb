// The ranked chart alone, as an SVG picture for an issue or a slide.
#pragma once

#include <iosfwd>
#include <vector>

#include "model/result.hpp"
#include "report/table/ranking.hpp"

namespace cllab::report::html {

/// A part per device, family and point: kernels fastest first on one scale from zero, each with the interval of its
/// median, its time, and its ratio to the best where it is ranked. Points with one kernel are shown where no point has
/// several. Bright and dark by what the reader's screen prefers.
void write_ranked(std::ostream& out, const std::vector<const model::Record*>& records, const MayBeAuto& may_be_auto);

}  // namespace cllab::report::html
