// Bounds of a time, one function per resource. A bound is a time with an interval. If the work was simulated, the low
// end of the interval omits what compilers often fuse, hoist or remove. Bound::simulated marks these bounds, and bounds
// that assume one use of every buffer.
#pragma once

#include <optional>
#include <string>

#include "explain/constants.hpp"
#include "model/device.hpp"
#include "model/explanation.hpp"
#include "model/result.hpp"

namespace cllab::explain {

using namespace model;

/// The bounds of the record's time, largest first, and the resources without a bound. Does not set `limit`.
Explanation bounds_of(const Record& record, const Limits& limits);

/// Whether the work of bound `effect` includes that of bound `cause`. For example, a pipe includes its arithmetic.
bool is_effect_of(const std::string& effect, const std::string& cause);

// --- Resources: each function adds its bounds to `out`. `record` must come from with_counted_work() ------------------

void bound_memory(const Record& record, const Limits& limits, Explanation& out);
void bound_arithmetic(const Record& record, const Limits& limits, Explanation& out);
void bound_issue(const Record& record, const Limits& limits, Explanation& out);
void bound_local(const Record& record, const Limits& limits, Explanation& out);
void bound_atomics(const Record& record, const Limits& limits, Explanation& out);
void bound_barriers(const Record& record, const Limits& limits, Explanation& out);
void bound_latency(const Record& record, const Limits& limits, Explanation& out);
void bound_launch(const Record& record, const Limits& limits, Explanation& out);

// --- Parts of bounds -------------------------------------------------------------------------------------------------

constexpr const char* by_ncu = ", counted by ncu";

bool is_gpu(const Record& record);
/// Whether the simulator counted the timed launch.
bool has_counts(const Record& record);
/// Whether the profiler counted the timed operation, which must be a single launch.
bool has_counters(const Record& record);
std::optional<double> counter_of(const Record& record, const std::string& name);

/// `work-groups / work-groups that the device holds at once` (CPU: one per core); at least 1. Needs `record.counts`.
double rounds_of(const Record& record, const Limits& limits);

/// Whether most loads of a work-item form a chain, in which each load gives the address of the next.
bool waits_for_loads(const Record& record);

/// Compute units that the work-groups can occupy; all if the number of work-groups is unknown.
double parallel_of(const Record& record, const Limits& limits);
/// Factor by which the work takes longer if the number of work-groups is no multiple of the units: `ceil(groups /
/// units) * units / groups`. 1 if at most `alike`, or if `groups` is unknown.
double uneven_share(const Record& record, const Limits& limits);
/// Share of the `parallel` usable cores that the cell's threads got; 1 if nearly all, and on a GPU.
double available_share(const Record& record, double parallel);

/// `count / figure`; `figure` is a rate.
Bound at_rate(const std::string& id, const std::string& name, const std::string& brief, double count,
              const std::string& unit, const Figure& figure);
/// `count * figure`; `figure` is a duration.
Bound at_time(const std::string& id, const std::string& name, const std::string& brief, double count,
              const Figure& figure);
/// `more` runs after the work of `bound`.
void add(Bound& bound, const Bound& more);
void scale(Bound& bound, double times);
/// Lengthens a bound if other processes took cores. `parallel`: cores that the work can use. `already`: factor by which
/// the bound is already longer because cores are idle.
Bound on_available_cores(Bound bound, const Record& record, double parallel, double already = 1);
/// Shortens a bound, because a nearer cache level may serve the share `nearer` of the data. Value: `seconds * (1 -
/// nearer * (1 - relative_time))`. Low end: `low * (1 - nearer)`. `relative_time`: time per byte of the nearer level /
/// of this level; 0 if both levels work at the same time.
Bound without_nearer(Bound bound, double nearer, double relative_time = 0);
/// If the bound exceeds the time but its low end does not, the low end becomes its value: the compiler must have
/// removed the rest of the work.
void lower_to_time(Bound& bound, const Record& record);
/// Time of all global atomics at the slowest rate of the profile; 0 without atomics or rates.
double contended_seconds(const Record& record, const Limits& limits);
/// Names atomics as the cause of the bound "shared", if they are enough to cause it. Names them alone if memory, the
/// clock and threads of one core cannot.
void name_contention(const Record& record, const Limits& limits, Explanation& out);
/// Adds a bound, `simulated` if the simulator counted the cell, even if the amount was declared.
void add_asked(const Record& record, Bound bound, Explanation& out);

// --- Levels of memory (memory.cpp) -----------------------------------------------------------------------------------

std::string level_id(std::size_t level);    ///< "l1" for 0
std::string level_name(std::size_t level);  ///< "L1" for 0
/// Number of cache levels that the operating system or the figures show, including one of unknown size. `family`: how
/// the identifiers of these figures begin, "bandwidth" or "latency".
std::size_t levels_of(const Limits& limits, const std::string& family);

/// The first cache level that holds all of a cell's data.
struct Place {
    std::size_t level = 0;
    bool memory = false;  ///< no cache level does
    double nearer = 0;    ///< share of the data that a nearer level may hold
};
/// The place of the cell's data; nullopt if no cache size is known. Always memory if the caches are cold or rotate.
/// `instances`: caches per level, for example one per core. The last level has one cache; on NVIDIA, only L1 has
/// several. If every work-group reads all data, one cache counts.
std::optional<Place> place_of(const Record& record, const Limits& limits, const std::string& family, double instances);

// --- Counted amounts and sampled code (bounds.cpp, issue.cpp) --------------------------------------------------------

/// For example "counted by simulation of 2 of 4096 groups".
std::string source_of(const Counts& counts);

/// In bytes.
struct Traffic {
    double read = 0, written = 0;

    double bytes() const { return read + written; }
};
/// Distinct bytes that the launch touches, at most the size of the buffers. Each uncounted work-group adds the average
/// of the counted ones after the first.
Traffic distinct(const Counts& counts, const WorkInfo& work);
/// Bytes that miss a level of `instances` caches of `holds` bytes. Data that one work-group uses misses
/// once. Data that all use misses once per cache if it fits, else once per work-group.
Traffic beyond(const Counts& counts, double holds, double instances);

/// The record, with undeclared work from the counts, if the simulator counted the timed launch.
Record with_counted_work(Record record);

template <typename IsMeant>
double share_of(const Hot& hot, IsMeant is_meant) {
    double out = 0;
    for (const auto& block : hot.blocks)
        if (is_meant(block)) out += block.share;
    return out;
}
/// Null if the code was not sampled.
const Hot* sampled_code(const Record& record);
/// Float additions, multiplications, multiply-adds and divisions per work-item. `bits`: 0 for all types.
double plain_floats(const Counts& counts, unsigned bits = 0);
/// Elements of "float", "product" or "division" that one pass of the block computes.
double elements_of(const HotBlock& block, const char* what);
/// Floats per vector in the hot block; 1 for scalar code.
double items_at_a_time(const Record& record);
/// Passes through a CPU's hot block; 0: unknown. `executed instructions / instructions of the block`, or else `counted
/// operations / operations per pass`.
double passes_of_hot_block(const Record& record);

}  // namespace cllab::explain
