// How much of a resource a cell uses, over its peak: the bounds of amounts that a profiler counted, and what all bounds
// are made with.
#pragma once

#include <string>

#include "model/explanation.hpp"
#include "model/limits.hpp"

namespace cllab::explain {

constexpr double sector_bytes = 32;  ///< of NVIDIA's second level, in which its counters count

/// `count` of something at the rate of `figure`.
model::Bound at_rate(std::string id, std::string name, std::string brief, double count, const std::string& unit,
                     const model::Figure& figure);

/// Both, one after the other.
void add(model::Bound& bound, const model::Bound& more);

/// `count` times the time of `figure`.
model::Bound at_time(std::string id, std::string name, std::string brief, double count, const model::Figure& figure);

/// Whether what it executes is only known where it was counted.
bool nobody_declared(const model::Record& record);

/// Whether the record's counters are those of what was timed: one launch, and no step of a slope.
bool are_counted(const model::Record& record);

/// Bytes of memory by the counters, at the rate of `stream`. False where they were not counted.
bool bound_counted_memory(const model::Record& record, const model::Figure* stream, model::Explanation& out);

/// What else was counted: reads of the second level, the busiest pipe, instruction issue. Without counters what is
/// known of them.
void bound_counted(const model::Record& record, const model::Limits& limits, model::Explanation& out);

}  // namespace cllab::explain
