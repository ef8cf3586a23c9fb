// The clock a device runs at beside a measurement, and what limits it: from NVML for NVIDIA, from Linux's sysfs for
// AMD, Intel and the host's processors. Read-only; nothing is set. OpenCL itself knows a nominal clock only.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "device/nvml.hpp"
#include "model/device.hpp"

namespace cllab::device {

/// One reading. Absent numbers stay empty.
struct Clocks {
    std::optional<double> core_mhz;  ///< now; a CPU's: the mean over its processors
    /// Why the clock is below what the device could do: "power cap", "thermal", …. Empty: nothing limits it, or nobody
    /// says.
    std::vector<std::string> limits;
    std::string source;  ///< "NVML", "sysfs amdgpu", "sysfs i915", "sysfs cpufreq"
};

/// Reads the clock, well below a millisecond. Nothing when the source stopped answering.
using ClockReader = std::function<std::optional<Clocks>()>;

/// The reader of the device's identity (UUID or PCI address), or an empty one, and then `why` says in a sentence what
/// is missing.
ClockReader clock_reader(const model::Device& device, std::string& why, const Sources& sources = {});

}  // namespace cllab::device
