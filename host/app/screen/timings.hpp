// Where a command's own time goes: --timings.
#pragma once

#include <vector>

#include "core/clock.hpp"
#include "core/phases.hpp"
#include "model/result.hpp"

namespace cllab::app {

/// While it lives, it keeps the phases of this thread that belong to no cell.
class Timings {
public:
    Timings() = default;
    Timings(const Timings&) = delete;
    Timings& operator=(const Timings&) = delete;

    /// On stderr, by phase: seconds, and the share of the time since the beginning. `of_cells`: the phases of the
    /// cells. Time in no phase is the phase `other`.
    void print(const Phases& of_cells) const;

private:
    Clock::time_point start_ = Clock::now();
    Phases phases_{};
    ChargedTo account_{phases_};
};

Phases phases_of(const std::vector<model::Record>& records);

}  // namespace cllab::app
