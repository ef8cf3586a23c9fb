// Bounds of what the work-items of a launch, or of a group, do to each other: atomics, barriers and local memory.
#pragma once

#include "model/explanation.hpp"
#include "model/limits.hpp"
#include "model/result.hpp"

namespace cllab::explain {

/// Atomics on global memory, by the rate of as many addresses as the footprint has room for.
void bound_atomics(const model::Record& record, const model::Limits& limits, model::Explanation& out);

/// Local memory: its atomics, its bandwidth, and barriers.
void bound_local(const model::Record& record, const model::Limits& limits, model::Explanation& out);

}  // namespace cllab::explain
