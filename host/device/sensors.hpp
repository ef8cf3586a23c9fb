// What a device says of itself beside a measurement: the clock it runs at, what limits that, and the energy it draws.
// From NVML for NVIDIA; the clock also from Linux's sysfs for AMD, Intel and the host's processors. Read-only; nothing
// is set. OpenCL itself knows a nominal clock only.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/device.hpp"

namespace cllab::device {

/// Where drivers and the system say what OpenCL does not.
struct Sources {
    std::string nvml = "libnvidia-ml.so.1";  ///< name or path for dlopen
    std::filesystem::path sysfs = "/sys";
};

/// What NVIDIA's tools call the device of this identity: "GPU-00112233-…" or its PCI address, wherever OpenCL lists it.
/// Empty where the identity is neither.
std::string nvidia_id(const std::string& identity);

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

struct EnergyMeter {
    /// Joules since some moment, of all that the device does, for whomever. Nothing when the source stopped answering.
    std::function<std::optional<double>()> joules;
    std::string source;  ///< "NVML"
};

/// The meter of the device, or one without `joules`, and then `why` says in a sentence what is missing.
EnergyMeter energy_meter(const model::Device& device, std::string& why, const Sources& sources = {});

}  // namespace cllab::device
