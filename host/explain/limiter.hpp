// The limiter of a cell's time, decided from its bounds.
//
// A model of the machine often blames the wrong resource. Here a resource has a bound only if two numbers are known:
// the cell's least use of the resource, and the device's measured peak (bounds.hpp). A bound is a time that the cell
// cannot beat. The largest bound is the limiter if it is most of the time and clearly larger than all others. A bound
// and the launch may be the limiter together. On NVIDIA, the limiter may also be what the warps wait for
// (name_by_wait). A resource without a known use or peak is listed as not bounded. Samples show which instructions a
// bound covers. The place of the samples does not name a limiter.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explain/bounds.hpp"
#include "model/device.hpp"
#include "model/result.hpp"

namespace cllab::explain {

/// Explains the time of `record`: its bounds, its longest wait, and the limiter if one can be named.
Explanation explain(const Record& record, const Limits& limits);

/// Decides the limiter by the bounds, which are sorted, largest first.
void decide_limit(const Record& record, Explanation& out);

/// Drops bounds that exceed the time and rest on simulated counts or on assumed buffer use. Then decides the limiter
/// again. A compiler may have removed such work, so these bounds do not prove the time impossible. Call this after the
/// doubtful peaks were measured again.
void drop_removed(const Record& record, Explanation& out);

/// `brief` of the limiter. If two bounds add up, that of both: "memory+launch". "-" if no limiter is named.
std::string limit_in_a_word(const Record& record, const Limits& limits);

/// Whether `bounds` name a limiter for the time, or why they do not. `bounds`: sorted, largest first.
Limit limit_of(const std::vector<Bound>& bounds, const Timing& time);

/// Finds a second bound that explains the time together with the first bound. One of the two is the launch: its
/// overhead overlaps no work, so the times add up. Returns the index of the second bound; 0: none.
std::size_t after_launch(const std::vector<Bound>& bounds, const Timing& time);

/// The main reason for which the warps wait. Ready warps do not wait. nullopt if no reason causes at least half of the
/// waiting, or if no stall reasons were counted.
std::optional<Wait> longest_wait(const Record& record);

/// If the bounds name no limiter, names one by `out.wait` and moves its bound to the front.
void name_by_wait(const Record& record, Explanation& out);

// Limits: the peaks and cache sizes of a device, from its profile.

using namespace model;

/// The peaks and cache sizes of `device` from the figures of its profile, taken at `utc`. `absent`: identifiers of
/// missing figures.
Limits limits_of(const std::vector<Figure>& figures, const std::vector<std::string>& absent, const std::string& utc,
                 const Device& device);

/// A sentence if the record's FLOP/s or bandwidth exceeds the device's peak, or if its time is too short for a launch;
/// else nullopt. A rate may exceed its peak by 5 %, because both have a spread. `one_launch`: the event clock timed a
/// single launch.
std::optional<std::string> beyond_peak(const Record& record, const Limits& limits, bool one_launch);

}  // namespace cllab::explain
