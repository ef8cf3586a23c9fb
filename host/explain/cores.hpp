// What it does to a bound that a CPU's cores are not all there: others have some of them, and all but one come late to
// a launch.
#pragma once

#include "model/explanation.hpp"
#include "model/limits.hpp"
#include "model/result.hpp"

namespace cllab::explain {

/// Part of the cores that the work has use for; all where nearly all were had, and on a GPU.
double available_share(const model::Record& record, double parallel);

/// A core does what it does alone: with fewer of them than the peak had, all of it takes longer. `parallel`: cores that
/// the work has use for. `already`: how many times as long the bound has become because not all have work.
model::Bound on_available_cores(model::Bound bound, const model::Record& record, double parallel, double already = 1);

/// Cores that so many groups have use for; where their number is not known, all.
double parallel_of(const model::Record& record, const model::Limits& limits);

/// A CPU's other cores come to a launch some time after the first, which has done a short one by then: groups of 9.1 us
/// took 17, 26, 44 and 80 us when there were 2, 4, 8 and 16 of them, as two cores do of which the other comes 16 us
/// later (`launch.spread` of a profile). They may be there at once too, so the low end stays; and of a longer one what
/// the cores lose is the launch's.
void add_wake_up(const model::Record& record, const model::Limits& limits, model::Explanation& out);

}  // namespace cllab::explain
