// Bounds from what was counted of a launch (Counts), where nobody declared it.
//
// A count per work-item, over the groups that were counted, times the work-items of the launch is what the text asks
// for. The compiler may have joined, hoisted or removed some of it, so each bound says what it takes at the least too:
// what cannot be joined. A count whose bound is above the time was not executed so often, and is lowered to that.
#pragma once

#include "explain/amounts.hpp"

namespace cllab::explain {

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
/// Elements of "float", "product" or "division" that a pass of the block computes.
double elements_of(const model::HotBlock& block, const char* what);
/// How often the block that a CPU spends nearly all of its time in runs, as its operations add up to the counted ones;
/// 0: not known.
double passes_of_hot_block(const Record& record);
/// Instructions of the launch, and the share of the samples in the blocks whose operations tell how many; 0: not known.
struct Executed {
    double instructions = 0, seen = 0;
};
Executed executed_by_samples(const Record& record);
/// Passes through the banks of a GPU's local memory.
void bound_banks(const Record& record, const Limits& limits, Explanation& out);
/// The longest chain of a work-item, as often as one group waits for the end of another.
void bound_chain(const Record& record, const Limits& limits, Explanation& out);
/// Instructions of a CPU, as the code that was seen running has them for the counted operations.
void bound_hot_block(const Record& record, const Limits& limits, Explanation& out);

/// What a count says that the user can change about the limiter that is named; empty where no count proves it.
std::string advice(const Record& record, const Explanation& explanation);

/// The two largest differences of what two launches execute, in a sentence.
std::string difference(const Counts& a, const Counts& b);

/// A sentence with both figures for each amount of the record's work that its counts contradict: more bytes declared
/// than its work-items ask for, or less than half of the different ones that they touch; floating-point operations
/// more or less by a factor above two. Nothing is averaged, and the bounds stay those of the declaration.
std::vector<std::string> contradictions(const Record& record);

}  // namespace cllab::explain
