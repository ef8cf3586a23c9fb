// What cells execute, for `cllab why`: by the simulator, and on NVIDIA by Nsight Compute.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/processes/simulation.hpp"
#include "model/device.hpp"
#include "run/request.hpp"

namespace cllab::app {

/// Work-items that a device executes together, by its profile; 32 where that does not say.
unsigned wave_of(const model::Limits& limits);

class CellCounts {
public:
    /// Simulates each cell of the request for at most so many seconds of the processor; 0: none. `wave`: work-items
    /// that the device executes together. `progress` is told what is being counted.
    CellCounts(const run::RunRequest& request, double budget_seconds, unsigned wave,
               const std::function<void(const std::string&)>& progress);

    /// Puts the cell's counts into its record, or why there are none.
    void add_to(const model::Cell& cell, model::Record& record, std::string& why_not) const;
    /// What two cells execute differently, or why that was not counted, in a sentence; empty where nothing was to be.
    /// `as_long`: the time of b over that of a.
    std::string difference(const model::Cell& a, const model::Cell& b, double as_long) const;

private:
    struct Found {
        std::vector<model::Counts> launches;  ///< of the operation, or none
        std::string why_not;
    };
    std::map<std::string, Found> found_;  ///< by key_of the cell
    std::string none_;                    ///< why nothing is counted
};

/// Counters of the launch of a record whose dump is still there, by Nsight Compute. Why there are none; empty
/// otherwise.
std::string count_by_ncu(const model::Cell& cell, const model::Device& device, std::uint64_t seed,
                         double timeout_seconds, model::Record& record);

}  // namespace cllab::app
