// Launches in Oclgrind, each in a child process under limits, to count what they execute. For `cllab count` and other
// commands.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/choose/choice.hpp"
#include "app/processes/runner.hpp"
#include "count/simulated.hpp"
#include "model/counts.hpp"
#include "model/device.hpp"
#include "model/plan.hpp"
#include "run/request.hpp"

namespace cllab::app {

struct Oclgrind {
    std::filesystem::path library;
    std::filesystem::path plugin;  ///< counts, and adds functions that Oclgrind lacks; empty: not built
};

/// Oclgrind's library: named by an ICD file, else at its usual paths. The plugin: the file that CLLAB_COUNT_PLUGIN
/// names, else next to this program (build tree) or in ../lib/cllab (installed). `for_what`: for the message, as
/// "--check oclgrind". Throws Error(environment) if Oclgrind, a named plugin or a needed plugin is missing.
Oclgrind find_oclgrind(const std::string& for_what, bool needs_plugin = true);

/// For a process that has not called OpenCL, and its children: makes Oclgrind with its plugin the only driver.
/// `settings`: environment variables of Oclgrind and the plugin, in addition to the usual limits.
void use_oclgrind(const Oclgrind& simulator, const std::map<std::string, std::string>& settings = {});

constexpr std::uint64_t most_simulator_bytes = 6ull << 30;  ///< address space, with the simulator's own data

/// For a child process that uses Oclgrind: opens its device. From then on the process has at most most_simulator_bytes.
device::Session& open_oclgrind(LocalDevices& devices);

struct CountSettings {
    run::Settings run;
    double budget_seconds = 5;  ///< CPU time per cell
    unsigned wave = 32;
    Oclgrind simulator;
};

/// The cells that the patterns choose; the simulator reports the arguments of a kernel file's kernels. Throws
/// Error(result) if the simulator crashes while it builds the text.
Choice chosen_in_simulator(const CellOptions& invocation);

struct Simulated {
    std::vector<model::Counts> launches;  ///< of the operation; equal launches are one entry
    double count_of_launches = 1;
    double left = 0;  ///< launches not simulated because the budget ended
    model::Status status = model::Status::ok;
    std::string trouble;    ///< a sentence; empty if the status is ok
    bool too_long = false;  ///< the budget ended before one group was done
    model::PointValues point;
};

/// Simulates the cell, with at most `groups` of its work-groups, for at most `seconds` of CPU time.
Simulated simulate(const model::Cell& cell, const CountSettings& settings, double seconds,
                   unsigned groups = count::most_groups);

/// Simulates the cell. If that takes too long, simulates smaller points of its axes. The result is then the largest
/// point that fits, and the others show how the counts grow. Throws run::Interrupted.
Simulated count_cell(const model::Cell& cell, const CountSettings& settings);

/// The same cell with its large axes divided by `divisor`; nullopt if no axis can be divided.
std::optional<model::Cell> smaller(const model::Cell& cell, const model::PointValues& point, std::int64_t divisor);

// What cells execute, for `cllab why`: counted by the simulator, and on NVIDIA by Nsight Compute.

/// Work-items that the device executes together, from its profile; 32 if the profile does not say.
unsigned wave_of(const model::Limits& limits);

class CellCounts {
public:
    /// Simulates each cell of the request for at most `budget_seconds` of CPU time; 0: no simulation. `wave`:
    /// work-items that the device executes together. `progress` is called with what is being counted.
    CellCounts(const run::RunRequest& request, double budget_seconds, unsigned wave,
               const std::function<void(const std::string&)>& progress);

    /// Puts the cell's counts into its record, or the reason for their absence into `why_not`.
    void add_to(const model::Cell& cell, model::Record& record, std::string& why_not) const;
    struct Launched {
        const model::Cell& cell;
        double items;  ///< work-items of the launch on the device; 0: unknown
    };
    /// A sentence: how the work of two cells differs, or why it was not counted. Empty if counting was not requested.
    /// The other arguments are those of explain::difference.
    std::string difference(const Launched& a, const Launched& b, double as_long, bool waves, double named_ratio) const;

private:
    struct Found {
        std::vector<model::Counts> launches;  ///< of the operation; may be empty
        std::string why_not;
        /// Why the counts do not describe a launch of `items` work-items; empty if they do. `items` 0: unknown.
        std::string unlike(double items) const;
    };
    std::map<std::string, Found> found_;  ///< by key_of the cell
    std::string none_;                    ///< why no cell was counted
};

/// Adds Nsight Compute's counters of the launch to the record, whose dump must still exist. Returns the reason if there
/// are none, else an empty text.
std::string count_by_ncu(const model::Cell& cell, const model::Device& device, std::uint64_t seed,
                         double timeout_seconds, model::Record& record);

}  // namespace cllab::app
