// What limits a cell's time, decided from its bounds.
//
// Time is often blamed on a resource because a model of the machine says so. Here a resource is bounded only where both
// numbers are known: how much of it the cell uses at the least, and the device's own measured peak (bounds.hpp). Each
// bound is then a time that the cell cannot beat, and the largest names the limiter only when it is most of the time
// and clear of every other. A count or peak that is not known is no bound, and says so. Samples of the code that ran
// say which of its instructions a bound is of; no limiter is named by where they lie.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explain/bounds.hpp"
#include "model/device.hpp"
#include "model/result.hpp"

namespace cllab::explain {

/// The bounds of a record, and what they and its waits say of its time.
Explanation explain(const Record& record, const Limits& limits);

/// Drops bounds of simulated counts, and of buffers that nobody says are all used, that alone exceed the time, and
/// names the limit anew. The text asks for what they count, and a compiler may do without it: they prove nothing
/// impossible. Call when their peaks were measured again.
void drop_removed(const Record& record, Explanation& out);

/// Bound::brief of the limiter, "-" where none is named.
std::string limit_in_a_word(const Record& record, const Limits& limits);

/// What the bounds say of the time. They are sorted already.
Limit limit_of(const std::vector<Bound>& bounds, const Timing& time);

/// Where no bound alone is most of the time: the place of the one that makes most of it together with the first, of
/// which one is the launch. What a device does in front of a launch's first and behind its last work-item adds to all
/// else, and no work hides it. 0: there is none.
std::size_t after_launch(const std::vector<Bound>& bounds, const Timing& time);

/// The reason that is most of the waiting of the record's warps, ready ones aside; nothing where none is, or where it
/// was not counted.
std::optional<Wait> longest_wait(const Record& record);

/// Names the limit of an explanation in which no bound alone did, by its `wait`: puts the limiter in front.
void name_by_wait(const Record& record, Explanation& out);

// What a profile says that no kernel of the device can beat.

using namespace model;

/// The limits among the figures of a profile of `device` taken at `utc`. `absent`: identifiers of those that it does
/// not have.
Limits limits_of(const std::vector<Figure>& figures, const std::vector<std::string>& absent, const std::string& utc,
                 const Device& device);

/// Why the record's rates or its time cannot be: the figure, the limit and the profile it is from; else nothing. 5 %
/// above a limit are allowed, for the spread of both. `one_launch`: the time is that of a single launch by the event
/// clock.
std::optional<std::string> beyond_peak(const Record& record, const Limits& limits, bool one_launch);

}  // namespace cllab::explain
