// What limits a cell's time, from what it is declared to execute and what its device was measured to do at most.
//
// Time is often blamed on a resource because a model of the machine says so. Here a resource is bounded only where both
// numbers are known: how much of it the cell uses at the least, by its declaration, and the device's own measured peak.
// Each bound is then a time that the cell cannot beat, and the largest names the limiter only when it is most of the
// time and clear of every other. A count or peak that is not known is no bound, and says so.
#pragma once

#include "explain/amounts.hpp"
#include "model/device.hpp"

namespace cllab::explain {

/// Times or rates of a machine at rest that differ by less are the same: what an interval of 95 % leaves out, and the
/// drift of a clock between the profile and today.
constexpr double alike = 1.05;
constexpr double most_of_the_time = 0.8;    ///< a bound names the limiter from here on
constexpr double clear_of_the_next = 0.75;  ///< and only when the next bound is at most this part of it
/// Nor need it be more than this part where something else than the bound says that the time goes there: what warps
/// wait for, or where samples lie. Nsight Compute calls a resource that reaches so much of its peak the one that
/// limits.
constexpr double busy = 0.6;
/// And only of a time that spreads no further: the median may else be that of another state of the machine than the one
/// the peaks are of.
constexpr double widest_spread = 0.1;

/// Whether what `effect` bounds is made of what `cause` bounds: what a pipe takes is issued, arithmetic is what a pipe
/// takes, and a GPU's first level has its local memory in it.
bool is_effect_of(const std::string& effect, const std::string& cause);

/// The bounds of a record with a time, largest first, and what is not bounded. `limit` is left alone.
Explanation bounds_of(const Record& record, const Limits& limits, Capacity capacity = Capacity::most);

/// Whether the first bound is clear of all others. They are sorted already.
bool first_is_clear(const std::vector<Bound>& bounds);

/// What the bounds say of the time. They are sorted already.
Limit limit_of(const std::vector<Bound>& bounds, const Timing& time);

/// Where no bound alone is most of the time: the place of the one that makes most of it together with the first, of
/// which one is the launch. What a device does in front of a launch's first and behind its last work-item adds to all
/// else, and no work hides it. 0: there is none.
std::size_t after_launch(const std::vector<Bound>& bounds, const Timing& time);

/// All of these.
Explanation explain(const Record& record, const Limits& limits);

/// Drops bounds of simulated counts, and of buffers that nobody says are all used, that alone exceed the time, and
/// names the limit anew. The text asks for what they count, and a compiler may do without it: they prove nothing
/// impossible. Call when their peaks were measured again.
void drop_removed(const Record& record, Explanation& out);

/// Bound::brief of the limiter, "-" where none is named.
std::string limit_in_a_word(const Record& record, const Limits& limits);

/// The reason that is most of the waiting of the record's warps, ready ones aside; nothing where none is, or where it
/// was not counted.
std::optional<Wait> longest_wait(const Record& record);

bool is_level(const std::string& id);  ///< of a bound: "memory", "l2"

/// Names the limit of an explanation in which no bound alone did, by its `wait`: puts the limiter in front.
void name_by_wait(const Record& record, Explanation& out);

/// Whether samples name the first bound of a CPU's cell that was counted, which is less than most of the time: its
/// cores execute hardly anything else. They share their resources with other users, so that the rates of a minute are
/// below those of another. Of the lab's own cells, whose work is declared, it named one, which lay between two limiters
/// (tests/trial/why.py).
bool named_by_samples(const Record& record, const Explanation& explanation);

/// The loads and stores of a CPU's cell, where they are what is left: nearly all samples lie in code that has them,
/// what it touches fits no near level, its instructions are known, and neither they nor its chains nor anything else
/// with a bound take more than half of the time. No probe says how many misses a core has under way, so that no bound
/// comes near such a time. Nothing where mispredicted branches may take it.
std::optional<Bound> accesses_as_limiter(const Record& record, const Limits& limits, const Explanation& explanation);

// --- What a profile says that no kernel of the device can beat -------------------------------------------------------

/// The limits among the figures of a profile of `device` taken at `utc`. `absent`: identifiers of those that it does
/// not have.
Limits limits_of(const std::vector<Figure>& figures, const std::vector<std::string>& absent, const std::string& utc,
                 const Device& device);

/// Why the record's rates or its time cannot be: the figure, the limit and the profile it is from; else nothing. 5 %
/// above a limit are allowed, for the spread of both. `one_launch`: the time is that of a single launch by the event
/// clock.
std::optional<std::string> beyond_peak(const Record& record, const Limits& limits, bool one_launch);

// --- Forecast --------------------------------------------------------------------------------------------------------

// The least time of a launch on a device that need not be here, by what was counted of its text and by the device's
// profile.
//
// There is no time to hold the bounds against, so what is counted too high cannot show. Each bound is therefore of the
// least count and of the fastest end of its peak's interval. What a compiler cannot remove is sure: the different bytes
// that the launch touches, its groups, atomics and barriers, the launch itself. Arithmetic, passes through local memory
// and chains are as the text is written: clang's IR keeps what a loop repeats, and a compiler may compute it once.

/// Bounds whose `seconds` are the least, largest first; Bound::simulated is false of those that are sure. The record
/// has counts, and needs no time.
Explanation forecast(Record record, const Limits& limits);

/// What no group does less of: of groups that were not counted the least that a counted one did. Of scattered accesses
/// some come to sectors that others touched.
Counts least_of(const Counts& counts, const WorkInfo& work);

}  // namespace cllab::explain
