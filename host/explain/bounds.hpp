// Times that a cell cannot beat: how much of a resource it uses, over the peak that the device's profile measured.
//
// Each resource has a file and a function, with all that is known of its use: what the cell declares, what the
// simulator counted of a launch, what a profiler counted, what samples of the code that ran say. What is declared or
// counted by a profiler was executed. What the simulator counts is what the text asks for: a compiler may have joined,
// hoisted or removed some of it, so the low end of such a bound is what cannot be joined, and `simulated` is set.
#pragma once

#include <optional>
#include <string>

#include "explain/constants.hpp"
#include "model/device.hpp"
#include "model/explanation.hpp"
#include "model/result.hpp"

namespace cllab::explain {

using namespace model;

/// The bounds of a record with a time, largest first, and what is not bounded. `limit` is left alone.
Explanation bounds_of(const Record& record, const Limits& limits);

/// Whether what `effect` bounds is made of what `cause` bounds: what a pipe takes is issued, arithmetic is what a pipe
/// takes, and a GPU's first level has its local memory in it.
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
/// Whether the simulator counted the launch that was timed.
bool has_counts(const Record& record);
/// Whether the record's counters are those of what was timed: one launch, and no step of a slope.
bool has_counters(const Record& record);
/// A counter of the profiler; nothing where it was not counted.
std::optional<double> counter_of(const Record& record, const std::string& name);

/// How many groups follow one another in the place of one. GPU: as many as its units have room for run at once.
double rounds_of(const Record& record, const Limits& limits);

/// Units that so many groups have use for; where their number is not known, all.
double parallel_of(const Record& record, const Limits& limits);
/// How many times as long as on all units something takes of which each unit does a part: a group has one unit. 1 where
/// the number of groups is not known, or all units have work nearly all the time.
double uneven_share(const Record& record, const Limits& limits);
/// Part of the cores that the work has use for; all where nearly all were had, and on a GPU.
double available_share(const Record& record, double parallel);

/// `count` of something at the rate of `figure`.
Bound at_rate(const std::string& id, const std::string& name, const std::string& brief, double count,
              const std::string& unit, const Figure& figure);
/// `count` times the time of `figure`.
Bound at_time(const std::string& id, const std::string& name, const std::string& brief, double count,
              const Figure& figure);
/// Both, one after the other.
void add(Bound& bound, const Bound& more);
/// So many times as long.
void scale(Bound& bound, double times);
/// A core does what it does alone: with fewer of them than the peak had, all of it takes longer. `parallel`: cores that
/// the work has use for. `already`: how many times as long the bound has become because not all have work.
Bound on_available_cores(Bound bound, const Record& record, double parallel, double already = 1);
/// What a nearer level may serve takes no time at all in the low end of this bound. `relative_time`: of the time that
/// it takes behind that level, where what serves one after the other is known; 0: no time.
Bound without_nearer(Bound bound, double nearer, double relative_time = 0);
/// A bound whose count is above what the time allows, while what the compiler cannot join is not, is of the latter.
void lower_to_time(Bound& bound, const Record& record);
/// Adds a bound of declared work, or where the launch was counted of what its text asks for.
void add_asked(const Record& record, Bound bound, Explanation& out);

// --- Levels of memory (memory.cpp) -----------------------------------------------------------------------------------

std::string level_id(std::size_t level);    ///< "l1" of 0
std::string level_name(std::size_t level);  ///< "L1" of 0
/// Levels whose size is known, by the figures of `family` or the operating system.
std::size_t levels_of(const Limits& limits, const std::string& family);

/// Where the data of a cell lies: the first level that holds all of it, and how much of it the level before may hold.
struct Place {
    std::size_t level = 0;
    bool memory = false;  ///< behind all levels
    double nearer = 0;    ///< 0.1: a tenth of it may be found in the level before
};
/// `instances`: of each level but the last, which may hold another part of the data each, unless every group goes
/// through all of it; of NVIDIA's levels only the first has several. Nothing when no size is known.
std::optional<Place> place_of(const Record& record, const Limits& limits, const std::string& family, double instances);

// --- What was counted, and of which code (bounds.cpp, issue.cpp) ----------------------------------------------------

/// "counted by simulation of 2 of 4096 groups".
std::string source_of(const Counts& counts);

/// The bytes that one level of the caches, or the memory, has to give and take.
struct Traffic {
    double read = 0, written = 0;

    double bytes() const { return read + written; }
};
/// Different bytes that the launch touches: those of the counted groups and, for each further one, as many as another
/// counted group added; no more than its buffers have.
Traffic distinct(const Counts& counts, const WorkInfo& work);
/// What passes a level that holds `holds` bytes in each of `instances`: of each group what it reads for itself, and
/// what all groups read once for each instance that holds it.
Traffic beyond(const Counts& counts, double holds, double instances);

/// The record with what its counts say and nobody declared, where there are counts of all of it.
Record with_counted_work(Record record);

/// The part of the samples in the blocks that `is_meant` takes.
template <typename IsMeant>
double share_of(const Hot& hot, IsMeant is_meant) {
    double out = 0;
    for (const auto& block : hot.blocks)
        if (is_meant(block)) out += block.share;
    return out;
}
/// The code that was seen running; null where it was not sampled.
const Hot* sampled_code(const Record& record);
/// Elements of "float", "product" or "division" that a pass of the block computes.
double elements_of(const HotBlock& block, const char* what);
/// Bytes of the widest vector that the hot block computes in, over those of a float; 1 of scalar code.
double items_at_a_time(const Record& record);
/// How often the block that a CPU spends nearly all of its time in runs, as its operations add up to the counted ones;
/// 0: not known.
double passes_of_hot_block(const Record& record);

}  // namespace cllab::explain
