// The energy that a device draws, from counters of its driver or of Linux. Read-only.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "device/nvml.hpp"
#include "model/device.hpp"

namespace cllab::device {

struct EnergyMeter {
    /// Joules since some moment, of all that the device does, for whomever. Nothing when the source stopped answering.
    std::function<std::optional<double>()> joules;
    std::string source;  ///< "NVML", "RAPL, packages and DRAM", "hwmon energy", "hwmon power"
};

/// The meter of the device, or one without `joules`, and then `why` says in a sentence what is missing.
EnergyMeter energy_meter(const model::Device& device, std::string& why, const Sources& sources = {});

}  // namespace cllab::device
