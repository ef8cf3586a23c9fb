// The least time of a launch on a device that need not be here, by what was counted of its text and by the device's
// profile.
//
// There is no time to hold the bounds against, so what is counted too high cannot show. Each bound is therefore of the
// least count and of the fastest end of its peak's interval. What a compiler cannot remove is sure: the different bytes
// that the launch touches, its groups, atomics and barriers, the launch itself. Arithmetic, passes through local memory
// and chains are as the text is written: clang's IR keeps what a loop repeats, and a compiler may compute it once.
#pragma once

#include "explain/place.hpp"

namespace cllab::explain {

/// Bounds whose `seconds` are the least, largest first; Bound::simulated is false of those that are sure. The record
/// has counts, and needs no time.
Explanation forecast(Record record, const Limits& limits);

/// What no group does less of: of groups that were not counted the least that a counted one did. Of scattered accesses
/// some come to sectors that others touched.
Counts least_of(const Counts& counts, const WorkInfo& work);

}  // namespace cllab::explain
