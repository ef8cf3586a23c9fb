// host/README.md, rule 4: the device is warmed up by time, a cell by use.
#pragma once

#include "device/session.hpp"
#include "run/conditions/reference.hpp"
#include "run/measure.hpp"

namespace cllab::run {

/// Runs the reference kernel until two windows agree, unless the device was in use a moment ago. Returns whether it
/// settled when it was last warmed up; true where there is no reference kernel.
bool warm_up_device(device::Session& session, Reference& reference, const MeasureRules& rules);

/// All that a run would do with the device before its first cell: the timer's audit, the reference kernel, the warm-up.
void make_ready(device::Session& session, std::optional<Reference>& reference);

}  // namespace cllab::run
