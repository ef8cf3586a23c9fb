#include "device/sensors.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <memory>

#include "device/sysfs.hpp"

namespace cllab::device {
namespace {

namespace fs = std::filesystem;

/// NVML, started, with one device. It is loaded at run time without headers, because its C interface is stable and
/// documented (NVML API reference).
class Nvml {
public:
    using Handle = void*;

    /// If there is no such device, device() is nullptr and `why` says what is missing.
    Nvml(const std::string& library, const std::string& identity, std::string& why)
        : library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        if (!library_) {
            why = "none: " + library + ", which the NVIDIA driver brings, cannot be loaded";
            return;
        }
        const auto init = function<int()>("nvmlInit_v2");
        started_ = init && init() == 0;
        if (!started_) {
            why = "none: NVML does not start";
            return;
        }
        const auto id = nvidia_id(identity);
        const auto by_id = function<int(const char*, Handle*)>(
            id.starts_with("GPU-") ? "nvmlDeviceGetHandleByUUID" : "nvmlDeviceGetHandleByPciBusId_v2");
        if (!id.empty() && by_id && by_id(id.c_str(), &device_) == 0) return;
        device_ = nullptr;
        why = "none: NVML knows no device with " + (identity.empty() ? "an empty identity" : identity);
    }
    ~Nvml() {
        if (const auto shutdown = started_ ? function<int()>("nvmlShutdown") : nullptr) shutdown();
        if (library_) dlclose(library_);
    }
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;

    Handle device() const { return device_; }
    /// Null if this version lacks the function.
    template <typename Signature>
    Signature* function(const char* name) const {
        return reinterpret_cast<Signature*>(dlsym(library_, name));
    }

private:
    void* library_ = nullptr;
    Handle device_ = nullptr;
    bool started_ = false;
};

/// The folder of a GPU in sysfs. nullopt if its identity is no PCI address; then `why` says so.
std::optional<std::filesystem::path> pci_folder(const model::Device& device, const std::filesystem::path& sysfs,
                                                std::string& why) {
    if (device.is_gpu() && device.identity.starts_with("PCI "))
        return sysfs / "bus/pci/devices" / device.identity.substr(4);
    why = "none: '" + device.name + "' gives no PCI address to find its files by";
    return std::nullopt;
}

// --- The clock of NVIDIA GPUs

/// Bits of nvmlDeviceGetCurrentClocksThrottleReasons that mean a loss of speed. Idle and the user's own settings do
/// not.
constexpr std::array<std::pair<std::uint64_t, const char*>, 5> nvml_limits{{{0x4, "power cap"},
                                                                            {0x8, "hardware slowdown"},
                                                                            {0x20, "thermal"},
                                                                            {0x40, "thermal, by hardware"},
                                                                            {0x80, "power brake"}}};

std::optional<Clocks> nvml_clocks(const Nvml& nvml) {
    const auto clock = nvml.function<int(Nvml::Handle, unsigned, unsigned*)>("nvmlDeviceGetClockInfo");
    const auto limits =
        nvml.function<int(Nvml::Handle, unsigned long long*)>("nvmlDeviceGetCurrentClocksThrottleReasons");
    constexpr unsigned sm = 1;
    unsigned mhz = 0;
    if (!clock || clock(nvml.device(), sm, &mhz) != 0) return std::nullopt;
    Clocks out{mhz, {}, "NVML"};
    unsigned long long reasons = 0;
    if (limits && limits(nvml.device(), &reasons) == 0) {
        for (const auto& [bit, name] : nvml_limits)
            if (reasons & bit) out.limits.push_back(name);
    }
    return out;
}

// --- AMD: amdgpu's files (Linux, Documentation/gpu/amdgpu/thermal.rst).

/// Reads a file such as pp_dpm_sclk, with lines "1: 1590Mhz *". The star marks the level in use.
std::optional<double> starred_mhz(const fs::path& file) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        const auto colon = line.find(':');
        if (line.find('*') != std::string::npos && colon != std::string::npos)
            return std::strtod(line.c_str() + colon + 1, nullptr);
    }
    return std::nullopt;
}

std::optional<Clocks> amdgpu_clocks(const fs::path& folder) {
    const auto mhz = starred_mhz(folder / "pp_dpm_sclk");
    return mhz ? std::optional(Clocks{mhz, {}, "sysfs amdgpu"}) : std::nullopt;
}

// --- Intel: i915's and xe's files (Linux, Documentation/ABI/testing/sysfs-driver-intel-i915-hwmon and i915's gt
// folder).

std::optional<Clocks> intel_clocks(const fs::path& gt) {
    Clocks out{number(gt / "rps_act_freq_mhz"), {}, "sysfs i915"};
    constexpr std::array<std::pair<const char*, const char*>, 5> reasons{
        {{"throttle_reason_pl1", "power cap"},
         {"throttle_reason_pl2", "short power cap"},
         {"throttle_reason_thermal", "thermal"},
         {"throttle_reason_prochot", "thermal, by hardware"},
         {"throttle_reason_vr_tdc", "current limit"}}};
    for (const auto& [file, name] : reasons)
        if (number(gt / file)) out.limits.push_back(name);
    return out.core_mhz ? std::optional(out) : std::nullopt;
}

// --- The host's processors: cpufreq, which few virtual machines have.

std::optional<Clocks> cpufreq_clocks(const std::vector<fs::path>& files) {
    double sum = 0;
    unsigned n = 0;
    for (const auto& file : files)
        if (const auto mhz = number(file, 1e-3)) sum += *mhz, ++n;
    return n > 0 ? std::optional(Clocks{sum / n, {}, "sysfs cpufreq"}) : std::nullopt;
}

ClockReader cpu_reader(const fs::path& sysfs, std::string& why) {
    std::vector<fs::path> files;
    for (const auto& cpu : entries(sysfs / "devices/system/cpu", "cpu"))
        if (const auto file = cpu / "cpufreq/scaling_cur_freq"; first_line(file)) files.push_back(file);
    if (files.empty()) {
        why = "none: this system has no cpufreq, like most virtual machines";
        return nullptr;
    }
    return [files] { return cpufreq_clocks(files); };
}

// --- The energy of NVIDIA GPUs

/// Supported since Volta (NVML API reference). The counter changes every 20 to 100 ms.
EnergyMeter nvml_meter(const std::string& library, const std::string& identity, std::string& why) {
    const auto nvml = std::make_shared<const Nvml>(library, identity, why);
    if (!nvml->device()) return {};
    const auto total = nvml->function<int(Nvml::Handle, unsigned long long*)>("nvmlDeviceGetTotalEnergyConsumption");
    const auto read = [nvml, total]() -> std::optional<double> {
        unsigned long long millijoules = 0;
        if (!total || total(nvml->device(), &millijoules) != 0) return std::nullopt;
        return static_cast<double>(millijoules) * 1e-3;
    };
    if (read()) return {read, "NVML"};
    why = "none: NVML does not count the energy of this device; it does from Volta on, and not of a part of one (MIG)";
    return {};
}

}  // namespace

std::string nvidia_id(const std::string& identity) {
    if (identity.starts_with("PCI ")) return identity.substr(4);
    const std::string hex = identity.starts_with("UUID ") ? identity.substr(5) : std::string();
    if (hex.size() != 32) return {};
    return "GPU-" + hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" + hex.substr(16, 4) +
           "-" + hex.substr(20);
}

ClockReader clock_reader(const model::Device& device, std::string& why, const Sources& sources) {
    if (device.is_cpu()) return cpu_reader(sources.sysfs, why);
    if (device.implementation == model::Implementation::nvidia) {
        const auto nvml = std::make_shared<const Nvml>(sources.nvml, device.identity, why);
        if (!nvml->device()) return nullptr;
        return [nvml] { return nvml_clocks(*nvml); };
    }
    const auto found = pci_folder(device, sources.sysfs, why);
    if (!found) return nullptr;
    const auto& folder = *found;
    if (starred_mhz(folder / "pp_dpm_sclk")) return [folder] { return amdgpu_clocks(folder); };
    for (const auto& card : entries(folder / "drm", "card"))
        if (const auto gt = card / "gt/gt0"; first_line(gt / "rps_act_freq_mhz"))
            return [gt] { return intel_clocks(gt); };
    why = "none: " + folder.string() + " has no file that says it";
    return nullptr;
}

EnergyMeter energy_meter(const model::Device& device, std::string& why, const Sources& sources) {
    if (device.implementation == model::Implementation::nvidia) return nvml_meter(sources.nvml, device.identity, why);
    why = "none: energy is read through NVML, so of NVIDIA's GPUs only";
    return {};
}

}  // namespace cllab::device
