// Names the resource that limits a time. Estimates often blame the wrong resource. Therefore a resource has a bound
// only if the least work on it is known, and if its peak was measured or a profiler reported the share of the peak. The
// largest bound is the limiter if it is most of the time and clearly larger than all bounds of other work. Other ways
// to a limiter: the launch and a bound together (after_launch), the waiting of warps on NVIDIA (name_by_wait), and
// parts of a time on one core (one_core.hpp).
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

/// Drops simulated bounds whose low end exceeds the time: a compiler may have removed work, or the kernel may use only
/// a part of its buffers. Then decides the limiter anew. Call it after Peaks has measured doubtful peaks again.
void drop_removed(const Record& record, Explanation& out);

/// `brief` of the limiter; "memory+launch" if two bounds add up; "-" if no limiter is named.
std::string limit_in_a_word(const Record& record, const Limits& limits);

/// Whether `bounds` name a limiter for the time, or why not. `bounds`: largest first.
Limit limit_of(const std::vector<Bound>& bounds, const Timing& time);

/// Index of the second of two bounds that explain the time together; 0: none. One is the launch: its overhead overlaps
/// no work, so the two times add up.
std::size_t after_launch(const std::vector<Bound>& bounds, const Timing& time);

/// The main reason for which warps wait; nullopt if no reason is `most_of_the_waiting`, or if stalls were not counted.
std::optional<Wait> longest_wait(const Record& record);

/// If the limit is `unexplained` or `close`, names a limiter by `out.wait`, if possible. Puts the limiter's bound
/// first. If the waiting itself is the limiter, its bound is new and replaces one with the same `id`.
void name_by_wait(const Record& record, Explanation& out);

// Limits: the peaks and cache sizes of a device, from its profile.

using namespace model;

/// `figures`: of the device's profile, taken at `utc`. `absent`: identifiers of missing figures.
Limits limits_of(const std::vector<Figure>& figures, const std::vector<std::string>& absent, const std::string& utc,
                 const Device& device);

/// A warning if the FLOP/s or the bandwidth exceeds `alike` times the device's peak, or if the time is too short for a
/// launch; else nullopt. `one_launch`: the event clock timed a single launch.
std::optional<std::string> beyond_peak(const Record& record, const Limits& limits, bool one_launch);

}  // namespace cllab::explain
