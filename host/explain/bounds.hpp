// Lower bounds of a cell's time: the use of a resource, divided by the peak in the device's profile.
//
// Each resource has a file and a function. Its use may be declared by the cell, counted by the simulator, counted by a
// profiler, or sampled. Declared and profiled amounts were executed. The simulator executes the kernel's text; a
// compiler may have fused, hoisted or removed part of it. Such a bound has `simulated` set, and its low end is the part
// that a compiler cannot remove.
#pragma once

#include <optional>
#include <string>

#include "explain/constants.hpp"
#include "model/device.hpp"
#include "model/explanation.hpp"
#include "model/result.hpp"

namespace cllab::explain {

using namespace model;

/// The bounds of a record with a time, largest first, and the resources without a bound. Does not set `limit`.
Explanation bounds_of(const Record& record, const Limits& limits);

/// Whether the bound `effect` contains the work of `cause`: pipe instructions are issued, arithmetic uses a pipe, and a
/// GPU's L1 contains its local memory.
bool is_effect_of(const std::string& effect, const std::string& cause);

// --- The resources: each adds its bounds of a record with_counted_work(), or says why it has none --------------------

void bound_memory(const Record& record, const Limits& limits, Explanation& out);
void bound_arithmetic(const Record& record, const Limits& limits, Explanation& out);
void bound_issue(const Record& record, const Limits& limits, Explanation& out);
void bound_local(const Record& record, const Limits& limits, Explanation& out);
void bound_atomics(const Record& record, const Limits& limits, Explanation& out);
void bound_barriers(const Record& record, const Limits& limits, Explanation& out);
void bound_latency(const Record& record, const Limits& limits, Explanation& out);
void bound_launch(const Record& record, const Limits& limits, Explanation& out);

// --- What they are made with -----------------------------------------------------------------------------------------

constexpr const char* by_ncu = ", counted by ncu";

bool is_gpu(const Record& record);
/// Whether the simulator counted the timed launch.
bool has_counts(const Record& record);
/// Whether the counters describe the timed operation: one launch, not a step of a slope.
bool has_counters(const Record& record);
/// A profiler counter by name; nullopt if it was not counted.
std::optional<double> counter_of(const Record& record, const std::string& name);

/// How many groups run one after another in the same place. GPU: groups divided by those resident at once.
double rounds_of(const Record& record, const Limits& limits);

/// Units that the launch's groups can occupy; all units if the number of groups is unknown.
double parallel_of(const Record& record, const Limits& limits);
/// How much longer the work takes because groups do not divide evenly over the units. 1 if the number of groups is
/// unknown or the units are busy nearly all the time.
double uneven_share(const Record& record, const Limits& limits);
/// Share of the usable cores that the threads had; 1 on a GPU, or if nearly all were available.
double available_share(const Record& record, double parallel);

/// A bound of `count` divided by the rate `figure`.
Bound at_rate(const std::string& id, const std::string& name, const std::string& brief, double count,
              const std::string& unit, const Figure& figure);
/// A bound of `count` times the duration `figure`.
Bound at_time(const std::string& id, const std::string& name, const std::string& brief, double count,
              const Figure& figure);
/// Adds the time of `more`, which follows in sequence.
void add(Bound& bound, const Bound& more);
/// Multiplies all three times.
void scale(Bound& bound, double times);
/// Lengthens a per-core bound if fewer cores were available than for the peak. `parallel`: cores that the work can use.
/// `already`: factor by which the bound was already lengthened for idle cores.
Bound on_available_cores(Bound bound, const Record& record, double parallel, double already = 1);
/// Subtracts the share `nearer`, which a nearer cache level may serve. The low end takes that share as free.
/// `relative_time`: time of an access in the nearer level relative to this one, if they run in sequence; 0: free.
Bound without_nearer(Bound bound, double nearer, double relative_time = 0);
/// If the bound exceeds the time but its low end does not, uses the low end: the compiler removed the rest.
void lower_to_time(Bound& bound, const Record& record);
/// Adds a bound, marked as `simulated` if its amounts come from the simulator.
void add_asked(const Record& record, Bound bound, Explanation& out);

// --- Levels of memory (memory.cpp) -----------------------------------------------------------------------------------

std::string level_id(std::size_t level);    ///< "l1" for 0
std::string level_name(std::size_t level);  ///< "L1" for 0
/// Number of levels whose size is known, from the figures of `family` or the operating system.
std::size_t levels_of(const Limits& limits, const std::string& family);

/// The first cache level that holds all of a cell's data, and the share that the level before it may hold.
struct Place {
    std::size_t level = 0;
    bool memory = false;  ///< beyond all levels
    double nearer = 0;    ///< share that the level before may hold
};
/// `instances`: copies of each level except the last, each of which may hold another part of the data. One copy counts
/// if every group reads all data. On NVIDIA only L1 has copies. nullopt if no size is known.
std::optional<Place> place_of(const Record& record, const Limits& limits, const std::string& family, double instances);

// --- What was counted, and of which code (bounds.cpp, issue.cpp) ----------------------------------------------------

/// For example "counted by simulation of 2 of 4096 groups".
std::string source_of(const Counts& counts);

/// Bytes that a cache level or the memory reads and writes.
struct Traffic {
    double read = 0, written = 0;

    double bytes() const { return read + written; }
};
/// Distinct bytes that the launch touches, extrapolated: each uncounted group adds as much as a counted one added. At
/// most the size of its buffers.
Traffic distinct(const Counts& counts, const WorkInfo& work);
/// Bytes that pass a level of `instances` copies of `holds` bytes each: data of single groups once per group, shared
/// data once per copy that can hold it.
Traffic beyond(const Counts& counts, double holds, double instances);

/// The record with its undeclared work filled in from counts, if the simulator counted the timed launch.
Record with_counted_work(Record record);

/// The share of samples in the blocks that `is_meant` accepts.
template <typename IsMeant>
double share_of(const Hot& hot, IsMeant is_meant) {
    double out = 0;
    for (const auto& block : hot.blocks)
        if (is_meant(block)) out += block.share;
    return out;
}
/// The sampled hot code; null if the code was not sampled.
const Hot* sampled_code(const Record& record);
/// Elements of "float", "product" or "division" that one pass of the block computes.
double elements_of(const HotBlock& block, const char* what);
/// Floats per vector in the hot block; 1 for scalar code.
double items_at_a_time(const Record& record);
/// How often a CPU's hot block runs, from its operations per pass and the counted total. 0: unknown.
double passes_of_hot_block(const Record& record);

}  // namespace cllab::explain
