// What the warps of a launch wait for, as Nsight Compute counts it, and what that says of the limiter.
//
// A kernel need not come near to the peak of anything: its warps may wait for one another, or there may be too few of
// them. The profiler samples what each of them waits for. Where one reason is most of all waiting, a resource that
// makes warps wait so and is busy for most of the launch limits it, at a lower share than a bound alone must have;
// where nothing is that busy, the wait is the limiter.
#pragma once

#include <optional>

#include "model/explanation.hpp"
#include "model/result.hpp"

namespace cllab::explain {

/// The reason that is most of the waiting of the record's warps, ready ones aside; nothing where none is, or where it
/// was not counted.
std::optional<model::Wait> longest_wait(const model::Record& record);

/// Names the limit of an explanation in which no bound alone did, by its `wait`: puts the limiter in front.
void name_by_wait(const model::Record& record, model::Explanation& out);

}  // namespace cllab::explain
