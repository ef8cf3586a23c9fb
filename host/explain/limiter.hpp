// The limiter of a cell's time, decided from its bounds.
//
// A model of the machine often blames the wrong resource. Here a resource has a bound only if two numbers are known:
// how much of it the cell uses at least, and the device's measured peak (bounds.hpp). Each bound is a time that the
// cell cannot beat. The largest one is the limiter only if it is most of the time and clear of all others. A resource
// without a known count or peak is reported as not bounded. Samples tell which instructions a bound counts; their
// position names no limiter.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explain/bounds.hpp"
#include "model/device.hpp"
#include "model/result.hpp"

namespace cllab::explain {

/// The bounds of a record, its longest wait, and the limit they prove.
Explanation explain(const Record& record, const Limits& limits);

/// Drops bounds that exceed the time and rest on simulated counts or on assumed buffer use, then names the limit again.
/// A compiler may have removed such work, so these bounds do not prove the time impossible. Call this after their peaks
/// were measured again.
void drop_removed(const Record& record, Explanation& out);

/// `brief` of the limiter, or "-".
std::string limit_in_a_word(const Record& record, const Limits& limits);

/// The limit that `bounds`, sorted largest first, prove for the time.
Limit limit_of(const std::vector<Bound>& bounds, const Timing& time);

/// For a time that no single bound explains: the index of the bound that, added to the first, does. One of the two is
/// the launch, whose overhead overlaps no work. 0: none.
std::size_t after_launch(const std::vector<Bound>& bounds, const Timing& time);

/// The reason for most of the waiting of the warps, ready warps excluded. nullopt if no reason is most of it, or none
/// was counted.
std::optional<Wait> longest_wait(const Record& record);

/// Names the limit by `wait` where no bound did, and moves the limiter to the front.
void name_by_wait(const Record& record, Explanation& out);

// Limits of a device, from its profile.

using namespace model;

/// The limits of `device` from the figures of its profile, taken at `utc`. `absent`: identifiers of missing figures.
Limits limits_of(const std::vector<Figure>& figures, const std::vector<std::string>& absent, const std::string& utc,
                 const Device& device);

/// Why a rate or the time is impossible: the figure, the limit and its profile; nullopt if it is possible. Allows 5 %
/// above a limit for the spread of both. `one_launch`: the event clock timed a single launch.
std::optional<std::string> beyond_peak(const Record& record, const Limits& limits, bool one_launch);

}  // namespace cllab::explain
