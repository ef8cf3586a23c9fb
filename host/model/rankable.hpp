// Whether the time of a record is one that may be ranked, and against which others (rules 21 and 22 of host/README.md).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "model/result.hpp"

namespace cllab::model {

/// A cell that had less than this share of its usable cores is neither precise nor ranked.
inline constexpr double nearly_all_cores = 0.9;

/// Cores that the threads of a CPU's cell could use: those that ran or were ready to run, but no more than there are
/// `groups`, or than the host has; 0 where either is not known, and of the result where nobody counted.
double usable_cores(const Timing& time, double groups, unsigned of_host);

/// The share of the usable cores that the threads had; 1 where unknown, and on a GPU.
double cores_share(const Record& record);
inline bool had_its_cores(const Record& record) { return cores_share(record) >= nearly_all_cores; }

/// Cells of one device with equal Turns were timed round by round. Only such cells are ranked.
struct Turns {
    std::string run;
    std::uint64_t comparison = 0;
    unsigned batch = 0;
    auto operator<=>(const Turns&) const = default;
};
/// Nothing for a record without a time, and for schema 1, which does not name the run.
std::optional<Turns> turns_of(const Record& record);

}  // namespace cllab::model
