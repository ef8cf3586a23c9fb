// How much of a resource a cell uses, over its peak: the bounds of amounts that a profiler counted, and what all bounds
// are made with. And in which level of the caches the data of a cell lies, by what the levels were seen to hold.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/explanation.hpp"
#include "model/limits.hpp"
#include "model/result.hpp"

namespace cllab::explain {

using namespace model;

std::string level_id(std::size_t level);    ///< "l1" of 0
std::string level_name(std::size_t level);  ///< "L1" of 0

/// What a level is taken to hold. `most`: all that its interval allows, and what of a larger footprint fits is found
/// there. No time beats that, so bounds are of it. `least`: half of the least it was seen to hold, and nothing of a
/// larger footprint: a level that replaces lines in the order of their use has none of a round through more than it
/// holds, and one that replaces any of them next to none of four times as much (1 MiB behind a first level of 128 to
/// 256 KiB took 0.87 times as long as 8 MiB on a GPU, `cllab run latency`). What a time will be lies between the two.
enum class Capacity { most, least };

/// Bytes that one instance of each level holds, as `family` found them, 0 of a last one that was seen but not where it
/// ends; else by the operating system.
std::vector<double> sizes_of(const Limits& limits, const std::string& family, Capacity capacity);

/// Where the data of a cell lies: the first level that holds all of it, and how much of it the level before may hold.
struct Place {
    std::size_t level = 0;
    bool memory = false;  ///< behind all levels
    double nearer = 0;    ///< 0.1: a tenth of it may be found in the level before
};

/// `instances`: of each level but the last, which may hold another part of the data each, unless every group goes
/// through all of it; of NVIDIA's levels only the first has several. Nothing when no size is known.
std::optional<Place> place_of(const Record& record, const Limits& limits, std::vector<double> sizes, double instances,
                              Capacity capacity);

/// Where the data lies if no level holds more than the least it may and that is no level of a core alone; else nothing.
std::optional<Place> far_place(const Record& record, const Limits& limits);

bool is_gpu(const Record& record);

/// The part of the samples in the blocks that `is_meant` takes.
template <typename IsMeant>
double share_of(const Hot& hot, IsMeant is_meant) {
    double out = 0;
    for (const auto& block : hot.blocks)
        if (is_meant(block)) out += block.share;
    return out;
}

/// How many times as long as on all units something takes of which each unit does a part: a group has one unit. 1 where
/// the number of groups is not known, or all units have work nearly all the time.
double uneven_share(const Record& record, const Limits& limits);

/// Units that so many groups have use for; where their number is not known, all.
double parallel_of(const Record& record, const Limits& limits);

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

/// A CPU's instructions at the rate at which all of its cores take them; a group is on one core. `how`: who counted.
Bound bound_of_issue(const Record& record, const Limits& limits, double instructions, const Figure& rate,
                     const std::string& how);

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

// --- Bounds from what was counted ------------------------------------------------------------------------------------
//
// Of a launch (Counts), where nobody declared it.
//
// A count per work-item, over the groups that were counted, times the work-items of the launch is what the text asks
// for. The compiler may have joined, hoisted or removed some of it, so each bound says what it takes at the least too:
// what cannot be joined. A count whose bound is above the time was not executed so often, and is lowered to that.

/// "counted by simulation of 2 of 4096 groups".
std::string source_of(const Counts& counts);

/// A bound whose count is above what the time allows, while what the compiler cannot join is not, is of the latter.
void lower_to_time(Bound& bound, const Record& record);

/// Of atomics of which a GPU's compiler may join those of a wave on one address: the wave adds up its lanes and needs
/// one.
void lower_to_joined(Bound& bound, const Atomics& atomics, const Record& record);

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

/// The record's work with what its counts say and nobody declared.
WorkInfo work_of_counts(const Record& record, const Counts& counts);
/// The record with that work, where there are counts of all of it.
Record with_counted_work(Record record);

/// Floating-point operations of so many bits as multiply-adds, of all lanes that wait for them. `least`: where the
/// compiler joins each product with a sum.
struct MultiplyAdds {
    double number = 0, least = 0;
};
MultiplyAdds multiply_adds(const Record& record, unsigned bits);

/// Each level of the caches, by what passes it.
void bound_levels(const Record& record, const Limits& limits, Explanation& out);
/// Functions, divisions and integer operations by rates of their own.
void bound_operations(const Record& record, const Limits& limits, Explanation& out);
/// Of samples, or of operations, a part that stands for the whole: what else runs takes its time, too.
constexpr double most_samples = 0.8;
/// Bytes of the widest vector that the hot block computes in, over those of a float; 1 of scalar code.
double items_at_a_time(const Record& record);
/// Part of the accesses that go to global memory: the others go to local memory and to private arrays.
double global_share(const Counts& counts);
/// Whether it has an instruction that takes many times as long as others: an atomic, a call, a division.
bool does_something_slow(const model::HotBlock& block);
/// Elements of "float", "product" or "division" that a pass of the block computes.
double elements_of(const model::HotBlock& block, const char* what);
/// How often the block that a CPU spends nearly all of its time in runs, as its operations add up to the counted ones;
/// 0: not known.
double passes_of_hot_block(const Record& record);
/// Instructions of the launch, and the share of the samples in the blocks whose operations tell how many; 0: not known.
struct Executed {
    double instructions = 0, seen = 0;
    double joined = 1;  ///< part of them that is left where the compiler joins as many operations as it can
};
Executed executed_by_samples(const Record& record);
/// Passes through the banks of a GPU's local memory.
void bound_banks(const Record& record, const Limits& limits, Explanation& out);
/// Of the arithmetic in the longest path of one work-item; infinite where the profile has no latency of it.
double seconds_of_arithmetic(const Record& record, const Limits& limits);
/// The longest chain of a work-item, as often as one group waits for the end of another.
void bound_chain(const Record& record, const Limits& limits, Explanation& out);
/// Instructions of a CPU, as the code that was seen running has them for the counted operations.
void bound_hot_block(const Record& record, const Limits& limits, Explanation& out);

/// What a count says that the user can change about the limiter that is named; empty where no count proves it.
std::string advice(const Record& record, const Explanation& explanation);

/// The two largest differences of what two operations execute, in a sentence; and what is not known of one of them.
/// `as_long`: the time of b over that of a.
std::string difference(std::span<const Counts> a, std::span<const Counts> b, double as_long);

/// A sentence with both figures for each amount of the record's work that its counts contradict: more bytes declared
/// than its work-items ask for, or less than half of the different ones that they touch; floating-point operations
/// more or less by a factor above two. Nothing is averaged, and the bounds stay those of the declaration.
std::vector<std::string> contradictions(const Record& record);

}  // namespace cllab::explain
