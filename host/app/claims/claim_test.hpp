// The measurements of `cllab why --test`.
#pragma once

#include <functional>

#include "app/processes/runner.hpp"
#include "model/explanation.hpp"
#include "model/limits.hpp"
#include "model/plan.hpp"

namespace cllab::app {

/// Tests the named limiter of `claim` by at most three changes of one thing each (the value of an axis, fewer groups
/// resident, half of the work-items, more arithmetic) against the cell as it was, over arrangements; withdraws it when
/// one comes out otherwise than it predicts. `record`: of `cell`, ok and timed; `limits`: what `claim` rests on.
/// `runner` makes processes. `progress` gets what is being done. Throws run::Interrupted, DeviceLost.
void test_claim(Runner& runner, const run::Settings& settings, const model::Device& device, const model::Cell& cell,
                const model::Record& record, const model::Limits& limits, model::Explanation& claim,
                const std::function<void(const std::string&)>& progress);

}  // namespace cllab::app
