// Where the time of a command went, as --timings shows it.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <vector>

#include "core/phases.hpp"
#include "model/result.hpp"

namespace cllab::report {

/// By phase: seconds, the share of `wall` seconds, and the cell that took most of it; then by cell: seconds and the
/// phases that took most. `besides`: phases that belong to no record. `processes`: that worked at the same time; shares
/// are of the seconds that they had together. What of these is in no phase is the phase `other`.
void print_timings(std::ostream& out, const std::vector<model::Record>& records, const Phases& besides, double wall,
                   std::size_t processes = 1);

}  // namespace cllab::report
