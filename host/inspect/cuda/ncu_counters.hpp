// Hardware counters from the output of Nsight Compute, and figures of a launch from them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/code/hot_code.hpp"
#include "model/result.hpp"

namespace cllab::inspect {

/// Reads `ncu --csv --page raw`: the counters of the first launch. Skips columns whose value is no number. Empty if the
/// text has no such table.
std::vector<model::Counter> parse_ncu(std::string_view text);

/// Reads `ncu --csv --page source --print-source sass` with the metric inst_executed: the first kernel's machine code
/// as it ran, with addresses from 0. nullopt if the text has no such table.
std::optional<ExecutedCode> parse_ncu_source(std::string_view text);

/// The counter in its base unit: bytes, seconds, instructions; nullopt if it was not counted.
std::optional<double> counter(const std::vector<model::Counter>& counters, std::string_view name);

/// A line for people.
struct Reading {
    std::string what, value, how;
};
/// The figures that engineers look for first, if they were counted: bytes and rate of each level, issue slots,
/// instructions by pipe, occupancy, and the reasons why warps waited, most frequent first.
std::vector<Reading> read_counters(const std::vector<model::Counter>& counters);

}  // namespace cllab::inspect
