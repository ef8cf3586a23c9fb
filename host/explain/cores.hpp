// What it does to a bound that a CPU's cores are not all there, because others have some of them.
#pragma once

#include "model/explanation.hpp"
#include "model/result.hpp"

namespace cllab::explain {

/// Part of the cores that the work has use for; all where nearly all were had, and on a GPU.
double available_share(const model::Record& record, double parallel);

/// A core does what it does alone: with fewer of them than the peak had, all of it takes longer. `parallel`: cores that
/// the work has use for. `already`: how many times as long the bound has become because not all have work.
model::Bound on_available_cores(model::Bound bound, const model::Record& record, double parallel, double already = 1);

}  // namespace cllab::explain
