// Lower bounds of a cell's time. A bound is the time for the cell's use of a resource at the peak of that resource. The
// peak is a figure of the device's profile.
//
// Each resource has a file and a function. The amount may be declared by the cell, counted by the simulator, counted by
// a profiler, or estimated from samples. Declared and profiled amounts are executed in full. Simulated amounts come
// from the kernel's text. The device's compiler may fuse, hoist or remove a part of that work. So the low end of a
// bound from simulated amounts omits work that compilers often fuse or remove. `simulated` marks bounds that may use
// such amounts, and bounds that assume that a cell uses every buffer once.
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

/// Whether the bound `effect` includes the work of the bound `cause`. Instruction issue includes the work of the pipes,
/// a pipe includes its arithmetic, and a GPU's L1 includes its local memory.
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
/// Whether the profiler's counters describe the timed operation. They do only if that operation is a single launch.
bool has_counters(const Record& record);
/// A profiler counter by name; nullopt if it was not counted.
std::optional<double> counter_of(const Record& record, const std::string& name);

/// How many times the launch's work-groups fill the device; at least 1. A CPU holds one work-group per core. A GPU
/// holds as many as are resident at once. Needs `record.counts`.
double rounds_of(const Record& record, const Limits& limits);

/// Compute units that the launch's work-groups can occupy. All units if the number of work-groups is unknown.
double parallel_of(const Record& record, const Limits& limits);
/// Factor by which the work takes longer because the work-groups do not divide evenly among the units. 1 if the factor
/// is at most `alike`, or if the number of work-groups is unknown.
double uneven_share(const Record& record, const Limits& limits);
/// Share of the `parallel` usable cores that the cell's threads got. 1 on a GPU, or if nearly all cores were available.
double available_share(const Record& record, double parallel);

/// A bound of `count` divided by the rate `figure`.
Bound at_rate(const std::string& id, const std::string& name, const std::string& brief, double count,
              const std::string& unit, const Figure& figure);
/// A bound of `count` times the duration `figure`.
Bound at_time(const std::string& id, const std::string& name, const std::string& brief, double count,
              const Figure& figure);
/// Adds the times of `more`, which runs after the work of `bound`.
void add(Bound& bound, const Bound& more);
/// Multiplies the value, the low end and the high end.
void scale(Bound& bound, double times);
/// Lengthens a bound if other processes took cores from the cell. `parallel`: cores that the work can use. `already`:
/// factor by which the bound was already lengthened for idle cores.
Bound on_available_cores(Bound bound, const Record& record, double parallel, double already = 1);
/// Shortens a bound, because a nearer cache level may serve part of the data. `nearer`: that part, as a share of all
/// data. The low end assumes that the nearer level takes no time. `relative_time`: time of an access to the nearer
/// level, divided by that of an access to this level. 0 if the two levels work at the same time.
Bound without_nearer(Bound bound, double nearer, double relative_time = 0);
/// If the bound exceeds the time but its low end does not, sets the bound to its low end. The reason: the compiler must
/// have removed the rest of the counted work.
void lower_to_time(Bound& bound, const Record& record);
/// Adds a bound. It is marked as `simulated` if the simulator counted the cell, even if its amounts were declared.
void add_asked(const Record& record, Bound bound, Explanation& out);

// --- Levels of memory (memory.cpp) -----------------------------------------------------------------------------------

std::string level_id(std::size_t level);    ///< "l1" for 0
std::string level_name(std::size_t level);  ///< "L1" for 0
/// Number of cache levels that the operating system or the figures of `family` show. Includes a last level of unknown
/// size.
std::size_t levels_of(const Limits& limits, const std::string& family);

/// The first cache level that holds all of a cell's data.
struct Place {
    std::size_t level = 0;
    bool memory = false;  ///< no cache level holds all of the data
    double nearer = 0;    ///< share of the data that the level before may hold
};
/// The place of the cell's data. nullopt if no cache size is known. `instances`: number of caches at each level except
/// the last, for example one per core. Each of these caches may hold another part of the data. If every work-group
/// reads all data, all caches hold the same data, so only the size of one counts. On NVIDIA, only L1 has several
/// caches.
std::optional<Place> place_of(const Record& record, const Limits& limits, const std::string& family, double instances);

// --- Counted amounts and sampled code (bounds.cpp, issue.cpp) --------------------------------------------------------

/// For example "counted by simulation of 2 of 4096 groups".
std::string source_of(const Counts& counts);

/// Bytes that a cache level or the memory reads and writes.
struct Traffic {
    double read = 0, written = 0;

    double bytes() const { return read + written; }
};
/// Distinct bytes that the launch touches. Assumes that each uncounted work-group adds as many bytes as the average
/// counted one, where the first one is left out. The result is at most the size of the buffers.
Traffic distinct(const Counts& counts, const WorkInfo& work);
/// Bytes that miss a cache level with `instances` caches of `holds` bytes each. Data of a single work-group misses
/// once. Data that all work-groups share misses once per cache if it fits, else once per work-group.
Traffic beyond(const Counts& counts, double holds, double instances);

/// The record with its undeclared work filled in from the counts. Unchanged if the simulator did not count the timed
/// launch.
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
/// Float operations per work-item, without functions.
double plain_floats(const Counts& counts);
/// Elements of "float", "product" or "division" that one pass of the block computes.
double elements_of(const HotBlock& block, const char* what);
/// Floats per vector in the hot block; 1 for scalar code.
double items_at_a_time(const Record& record);
/// Number of passes through a CPU's hot block; 0: unknown. Computed from the executed instructions if they are known,
/// else from the counted operations and the operations per pass.
double passes_of_hot_block(const Record& record);

}  // namespace cllab::explain
