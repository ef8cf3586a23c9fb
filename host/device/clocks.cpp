#include "device/clocks.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <memory>

#include "device/sysfs.hpp"

namespace cllab::device {
namespace {

namespace fs = std::filesystem;

std::optional<double> number(const fs::path& file, double scale = 1) {
    const auto line = first_line(file);
    if (!line) return std::nullopt;
    const auto value = std::strtod(line->c_str(), nullptr);
    return value > 0 ? std::optional(value * scale) : std::nullopt;
}

// --- NVIDIA: NVML, whose C interface is stable and documented (NVML API reference). No header is needed at build.

/// Bits of nvmlDeviceGetCurrentClocksThrottleReasons that take speed away. Idle and the user's own settings are none.
constexpr std::array<std::pair<std::uint64_t, const char*>, 5> nvml_limits{{{0x4, "power cap"},
                                                                            {0x8, "hardware slowdown"},
                                                                            {0x20, "thermal"},
                                                                            {0x40, "thermal, by hardware"},
                                                                            {0x80, "power brake"}}};

class Nvml {
public:
    using Handle = void*;

    Nvml(const std::string& library, const std::string& identity, std::string& why) {
        library_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library_) {
            why = "none: " + library + ", which the NVIDIA driver brings, cannot be loaded";
            return;
        }
        const auto init = function<int()>("nvmlInit_v2");
        if (!init || init() != 0) {
            why = "none: NVML does not start";
            return;
        }
        started_ = true;
        if (!find(identity)) {
            why = "none: NVML knows no device with " + (identity.empty() ? "an empty identity" : identity);
            return;
        }
        clock_ = function<int(Handle, unsigned, unsigned*)>("nvmlDeviceGetClockInfo");
        reasons_ = function<int(Handle, unsigned long long*)>("nvmlDeviceGetCurrentClocksThrottleReasons");
    }
    ~Nvml() {
        if (started_) {
            if (const auto shutdown = function<int()>("nvmlShutdown")) shutdown();
        }
        if (library_) dlclose(library_);
    }
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;

    bool found() const { return device_ != nullptr; }

    std::optional<Clocks> read() const {
        Clocks out;
        out.source = "NVML";
        constexpr unsigned sm = 1;
        unsigned value = 0;
        if (clock_ && clock_(device_, sm, &value) == 0) out.core_mhz = value;
        unsigned long long reasons = 0;
        if (reasons_ && reasons_(device_, &reasons) == 0) {
            for (const auto& [bit, name] : nvml_limits)
                if (reasons & bit) out.limits.push_back(name);
        }
        if (!out.core_mhz) return std::nullopt;
        return out;
    }

private:
    template <typename Signature>
    Signature* function(const char* name) const {
        return reinterpret_cast<Signature*>(dlsym(library_, name));
    }

    bool find(const std::string& identity) {
        const auto id = nvidia_id(identity);
        const auto by_id = function<int(const char*, Handle*)>(
            id.starts_with("GPU-") ? "nvmlDeviceGetHandleByUUID" : "nvmlDeviceGetHandleByPciBusId_v2");
        if (!id.empty() && by_id && by_id(id.c_str(), &device_) == 0) return true;
        device_ = nullptr;
        return false;
    }

    void* library_ = nullptr;
    Handle device_ = nullptr;
    bool started_ = false;
    int (*clock_)(Handle, unsigned, unsigned*) = nullptr;
    int (*reasons_)(Handle, unsigned long long*) = nullptr;
};

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

std::string nvidia_id(const std::string& identity) {
    if (identity.starts_with("PCI ")) return identity.substr(4);
    const std::string hex = identity.starts_with("UUID ") ? identity.substr(5) : std::string();
    if (hex.size() != 32) return {};
    return "GPU-" + hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" + hex.substr(16, 4) +
           "-" + hex.substr(20);
}

ClockReader clock_reader(const model::Device& device, std::string& why, const ClockSources& sources) {
    if (device.is_cpu()) return cpu_reader(sources.sysfs, why);
    if (device.implementation == model::Implementation::nvidia) {
        const auto nvml = std::make_shared<const Nvml>(sources.nvml, device.identity, why);
        if (!nvml->found()) return nullptr;
        return [nvml] { return nvml->read(); };
    }
    if (!device.is_gpu() || !device.identity.starts_with("PCI ")) {
        why = "none: '" + device.name + "' gives no PCI address to find its files by";
        return nullptr;
    }
    const auto folder = sources.sysfs / "bus/pci/devices" / device.identity.substr(4);
    if (starred_mhz(folder / "pp_dpm_sclk")) return [folder] { return amdgpu_clocks(folder); };
    for (const auto& card : entries(folder / "drm", "card"))
        if (const auto gt = card / "gt/gt0"; first_line(gt / "rps_act_freq_mhz"))
            return [gt] { return intel_clocks(gt); };
    why = "none: " + folder.string() + " has no file that says it";
    return nullptr;
}

}  // namespace cllab::device
