// Sentences for the user, mostly derived from counts.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/counts.hpp"
#include "model/explanation.hpp"

namespace cllab::explain {

using namespace model;

/// Sentences about what the user can change; empty if there are none.
/// - Avoidable costs of at least `worth_saying` of the time, and costs that have no bound but may explain the time.
/// - Idle compute units, or a GPU launch with less than one wave per compute unit.
/// - A work-group size that the driver chose.
std::string advice(const Record& record, const Explanation& explanation, const Limits& limits);

/// Sentences about the executed work of two cells, with at most two differences. `a`, `b`: one Counts per distinct
/// launch. `as_long`: time of b / time of a. `waves`: work-items execute in waves (GPU). `named_ratio`: the ratio of a
/// difference that the caller already names. On a CPU, differences in sectors with a smaller ratio are omitted.
std::string difference(std::span<const Counts> a, std::span<const Counts> b, double as_long, bool waves,
                       double named_ratio = 1);

/// One sentence per declared amount that the counts contradict. The memory bounds still use the declared
/// bytes, unless a profiler counted them; the arithmetic bounds use the counted operations.
/// - Bytes: declared > `alike` * requested, or declared < touched / `most_apart`.
/// - FLOP: declared < counted / `most_apart`.
/// - FLOP, if the kernel has no float division or function: declared > `most_apart` * (counted + integer operations).
std::vector<std::string> contradictions(const Record& record);

}  // namespace cllab::explain
