// What a device reports during a measurement: its clock, the limit of the clock, and the energy it draws. NVIDIA GPUs
// report through NVML. AMD, Intel and the host's processors report only the clock, through Linux's sysfs. Read-only;
// nothing is set. OpenCL itself has only a nominal clock.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/device.hpp"

namespace cllab::device {

/// Sources of facts that OpenCL does not report.
struct Sources {
    std::string nvml = "libnvidia-ml.so.1";  ///< name or path for dlopen
    std::filesystem::path sysfs = "/sys";
};

/// The device's name in NVIDIA's tools, whatever its number in OpenCL: "GPU-00112233-…" or its PCI address. Empty if
/// the identity is neither.
std::string nvidia_id(const std::string& identity);

/// One reading. Unknown numbers are empty.
struct Clocks {
    std::optional<double> core_mhz;  ///< current; for a CPU, the mean over its processors
    /// Why the clock is below what the device can reach: "power cap", "thermal", …. Empty: nothing limits it, or the
    /// source does not tell.
    std::vector<std::string> limits;
    std::string source;  ///< "NVML", "sysfs amdgpu", "sysfs i915", "sysfs cpufreq"
};

/// Reads the clock in well under a millisecond. nullopt if the source stopped answering.
using ClockReader = std::function<std::optional<Clocks>()>;

/// The clock reader of the device, found by its UUID or PCI address. If there is none, it is empty and `why` says what
/// is missing.
ClockReader clock_reader(const model::Device& device, std::string& why, const Sources& sources = {});

struct EnergyMeter {
    /// Joules since some moment that the whole device has drawn, for all users. nullopt if the source stopped
    /// answering.
    std::function<std::optional<double>()> joules;
    std::string source;  ///< "NVML"
};

/// The meter of the device. If there is none, `joules` is empty and `why` says what is missing.
EnergyMeter energy_meter(const model::Device& device, std::string& why, const Sources& sources = {});

}  // namespace cllab::device
