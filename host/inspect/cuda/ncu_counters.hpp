// Hardware counters as Nsight Compute prints them, and what they say of a launch.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/code/hot_code.hpp"
#include "model/result.hpp"

namespace cllab::inspect {

/// Of `ncu --csv --page raw`: the counters of the first launch. Columns whose value is no number are left out. Empty
/// where the text has no such table.
std::vector<model::Counter> parse_ncu(std::string_view text);

/// Of `ncu --csv --page source --print-source sass` with the metric inst_executed: the first kernel's machine code as
/// it ran, at addresses from 0 on. Nothing where the text has no such table.
std::optional<ExecutedCode> parse_ncu_source(std::string_view text);

/// The counter in its base unit: bytes, seconds, instructions; nothing where it was not counted.
std::optional<double> counter(const std::vector<model::Counter>& counters, std::string_view name);

/// A line for people.
struct Reading {
    std::string what, value, how;
};
/// What engineers ask first, as far as it was counted: bytes of each level and the rate they amount to, issue slots,
/// instructions by pipe, occupancy, and the reasons for which warps waited, most frequent first.
std::vector<Reading> read_counters(const std::vector<model::Counter>& counters);

}  // namespace cllab::inspect
