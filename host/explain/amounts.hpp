// How much of a resource a cell uses, over its peak: the bounds of amounts that a profiler counted, and what all bounds
// are made with.
#pragma once

#include "explain/place.hpp"

namespace cllab::explain {

constexpr double sector_bytes = 32;  ///< of NVIDIA's second level, in which its counters count

/// `count` of something at the rate of `figure`.
Bound at_rate(const std::string& id, const std::string& name, const std::string& brief, double count,
              const std::string& unit, const Figure& figure);

/// Both, one after the other.
void add(Bound& bound, const Bound& more);

/// So many times as long.
void scale(Bound& bound, double times);

/// `count` times the time of `figure`.
Bound at_time(const std::string& id, const std::string& name, const std::string& brief, double count,
              const Figure& figure);

/// Whether what it executes is only known where it was counted.
bool nobody_declared(const Record& record);

/// Whether the record's counters are those of what was timed: one launch, and no step of a slope.
bool are_counted(const Record& record);

/// Bytes of memory by the counters, at the rate of `stream`. False where they were not counted.
bool bound_counted_memory(const Record& record, const Figure* stream, Explanation& out);

/// What else was counted: reads of the second level, the busiest pipe, instruction issue. Without counters what is
/// known of them.
void bound_counted(const Record& record, const Limits& limits, Explanation& out);

/// Part of the cores that the work has use for; all where nearly all were had, and on a GPU.
double available_share(const Record& record, double parallel);

/// A core does what it does alone: with fewer of them than the peak had, all of it takes longer. `parallel`: cores that
/// the work has use for. `already`: how many times as long the bound has become because not all have work.
Bound on_available_cores(Bound bound, const Record& record, double parallel, double already = 1);

/// A chain that is declared: its links by the latency of what they are.
void bound_latency(const Record& record, const Limits& limits, Capacity capacity, Explanation& out);

/// What the level before may serve takes no time at all in the low end of this bound. `relative_time`: of the time that
/// it takes behind that level, where what serves one after the other is known; 0: no time.
Bound without_nearer(Bound bound, double nearer, double relative_time = 0);

/// Atomics on global memory, by the rate of as many addresses as the footprint has room for.
void bound_atomics(const Record& record, const Limits& limits, Explanation& out);

/// Local memory: its atomics, its bandwidth, and barriers.
void bound_local(const Record& record, const Limits& limits, Explanation& out);

}  // namespace cllab::explain
