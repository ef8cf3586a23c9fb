// Launches in Oclgrind, each in a child process under limits, for what they execute: `cllab count`, and whoever else
// wants to know.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/choose/choice.hpp"
#include "app/processes/oclgrind.hpp"
#include "count/simulated.hpp"
#include "model/counts.hpp"
#include "model/plan.hpp"
#include "run/request.hpp"

namespace cllab::app {

struct CountSettings {
    run::Settings run;
    double budget_seconds = 5;  ///< of the processor, per cell
    unsigned wave = 32;
    Oclgrind simulator;
};

/// What the patterns choose, where the simulator says what arguments a kernel file's kernels have. Throws Error(result)
/// where it cannot build the text.
Choice chosen_in_simulator(const CellOptions& invocation);

struct Simulated {
    std::vector<model::Counts> launches;  ///< of the operation; those that execute the same are one
    double count_of_launches = 1;
    double left = 0;  ///< launches that the budget ended before
    model::Status status = model::Status::ok;
    std::string trouble;    ///< of any other status, in a sentence
    bool too_long = false;  ///< the budget ended before a group was done
    model::PointValues point;
};

/// The cell as it stands, with at most so many of its groups.
Simulated simulate(const model::Cell& cell, const CountSettings& settings, double seconds,
                   unsigned groups = count::most_groups);

/// The cell; where it takes too long, smaller points of its axes, of which the largest that fits is the result and all
/// show how the counts grow. Throws run::Interrupted.
Simulated count_cell(const model::Cell& cell, const CountSettings& settings);

/// The same cell with its large axes divided; nothing where none can be.
std::optional<model::Cell> smaller(const model::Cell& cell, const model::PointValues& point, std::int64_t divisor);

}  // namespace cllab::app
