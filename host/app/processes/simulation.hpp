// Launches in Oclgrind, each in a child process under limits, for what they execute: `cllab count`, and whoever else
// wants to know.
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
    std::filesystem::path plugin;  ///< counts, and adds functions that Oclgrind lacks; empty: there is none
};

/// Its OpenCL library is as an ICD file says, else where Debian has it. The plugin is the file that CLLAB_COUNT_PLUGIN
/// names, else it lies beside this program, as it is built, or in ../lib/cllab, as it is installed. `for_what`:
/// "--check oclgrind". Throws Error(environment) where Oclgrind is missing, or a plugin that is named or needed.
Oclgrind find_oclgrind(const std::string& for_what, bool needs_plugin = true);

/// For a process that has called no OpenCL yet, and its children: Oclgrind with its plugin is the only driver.
/// `settings`: Oclgrind's and the plugin's environment variables beside the usual limits.
void use_oclgrind(const Oclgrind& simulator, const std::map<std::string, std::string>& settings = {});

constexpr std::uint64_t most_simulator_bytes = 6ull << 30;  ///< of address space: buffers, and what it keeps of them

/// In a child process that uses it: its device. From then on the process has at most that memory.
device::Session& open_oclgrind(LocalDevices& devices);

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

// What cells execute, for `cllab why`: by the simulator, and on NVIDIA by Nsight Compute.

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
    struct Launched {
        const model::Cell& cell;
        double items;  ///< of its launch on the device; 0: not known
    };
    /// What two cells execute differently, or why that was not counted, in a sentence; empty where nothing was to be.
    /// The other arguments are those of explain::difference.
    std::string difference(const Launched& a, const Launched& b, double as_long, bool waves, double said) const;

private:
    struct Found {
        std::vector<model::Counts> launches;  ///< of the operation, or none
        std::string why_not;
        /// Why it says nothing of a launch of so many work-items; 0: they are not known.
        std::string unlike(double items) const;
    };
    std::map<std::string, Found> found_;  ///< by key_of the cell
    std::string none_;                    ///< why nothing is counted
};

/// Counters of the launch of a record whose dump is still there, by Nsight Compute. Why there are none; empty
/// otherwise.
std::string count_by_ncu(const model::Cell& cell, const model::Device& device, std::uint64_t seed,
                         double timeout_seconds, model::Record& record);

}  // namespace cllab::app
