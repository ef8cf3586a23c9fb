// The measurements of `cllab why --test`.
#pragma once

#include "explain/measure.hpp"
#include "model/explanation.hpp"

namespace cllab::explain {

/// Tests the named limiter of `claim` by at most three changes of one thing each (the value of an axis, fewer groups
/// resident, half of the work-items, more arithmetic) against the cell as it was, over arrangements; withdraws it when
/// one comes out otherwise than it predicts. `record`: of `cell`, ok and timed; `limits`: what `claim` rests on.
void test_claim(Measure& measure, const model::Cell& cell, const model::Record& record, const model::Limits& limits,
                model::Explanation& claim);

}  // namespace cllab::explain
