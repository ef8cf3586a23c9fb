// What waits for itself, and what the level before may serve of it.
#pragma once

#include "explain/place.hpp"
#include "model/explanation.hpp"
#include "model/limits.hpp"
#include "model/result.hpp"

namespace cllab::explain {

/// A chain that is declared: its links by the latency of what they are.
void bound_latency(const model::Record& record, const model::Limits& limits, Capacity capacity,
                   model::Explanation& out);

/// What the level before may serve takes no time at all in the low end of this bound. `relative_time`: of the time that
/// it takes behind that level, where what serves one after the other is known; 0: no time.
model::Bound without_nearer(model::Bound bound, double nearer, double relative_time = 0);

}  // namespace cllab::explain
