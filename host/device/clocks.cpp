#include "device/clocks.hpp"

#include <array>
#include <cstdint>
#include <fstream>
#include <memory>

#include "device/nvml.hpp"
#include "device/sysfs.hpp"

namespace cllab::device {
namespace {

namespace fs = std::filesystem;

// --- NVIDIA

/// Bits of nvmlDeviceGetCurrentClocksThrottleReasons that take speed away. Idle and the user's own settings are none.
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

/// "1: 1590Mhz *" of pp_dpm_sclk: the level in use has the star.
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

// --- The host's processors: cpufreq, which a virtual machine seldom has.

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

}  // namespace

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

}  // namespace cllab::device
