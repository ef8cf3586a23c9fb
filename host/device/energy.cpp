#include "device/energy.hpp"

#include <filesystem>
#include <memory>
#include <vector>

#include "core/clock.hpp"
#include "device/sysfs.hpp"

namespace cllab::device {
namespace {

namespace fs = std::filesystem;

/// Since Volta (NVML API reference). Its counter moves every 20 to 100 ms.
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

// --- The host's processors: RAPL by powercap's files (Linux, Documentation/power/powercap/powercap.rst), of Intel and
// AMD.

/// A counter in microjoules that begins again at zero beyond its range.
struct Zone {
    fs::path file;
    double range = 0, last = 0, drawn = 0;

    bool read() {
        const auto now = number(file, 1e-6);
        if (!now) return false;
        drawn += *now - last + (*now < last ? range : 0);
        last = *now;
        return true;
    }
};

EnergyMeter rapl_meter(const fs::path& sysfs, std::string& why) {
    const auto zones = std::make_shared<std::vector<Zone>>();
    bool memory = false;
    for (const auto& folder : entries(sysfs / "class/powercap", "intel-rapl:")) {
        const auto name = first_line(folder / "name").value_or("");
        if (!name.starts_with("package") && name != "dram")
            continue;  // the others are parts of a package, or all of it
        memory = memory || name == "dram";
        zones->push_back({folder / "energy_uj", number(folder / "max_energy_range_uj", 1e-6).value_or(0)});
        if (zones->back().read()) continue;
        why = "none: " + zones->back().file.string() + " cannot be read; root may: chmod a+r";
        return {};
    }
    if (zones->empty()) {
        why = "none: this system has no RAPL (" + (sysfs / "class/powercap").string() + "), like most virtual machines";
        return {};
    }
    const auto read = [zones]() -> std::optional<double> {
        double sum = 0;
        for (auto& zone : *zones) {
            if (!zone.read()) return std::nullopt;
            sum += zone.drawn;
        }
        return sum;
    };
    return {read, memory ? "RAPL, packages and DRAM" : "RAPL, packages"};
}

// --- AMD and Intel GPUs: hwmon's files (Linux, Documentation/hwmon/sysfs-interface.rst). i915 and xe count energy,
// amdgpu says the power only, which is added up over the time between two readings.

EnergyMeter integrated(const fs::path& file) {
    struct SoFar {
        double drawn = 0;
        Clock::time_point last = Clock::now();
    };
    const auto so_far = std::make_shared<SoFar>();
    const auto read = [file, so_far]() -> std::optional<double> {
        const auto watts = number(file, 1e-6);
        if (!watts) return std::nullopt;
        so_far->drawn += *watts * seconds_since(so_far->last);
        so_far->last = Clock::now();
        return so_far->drawn;
    };
    return {read, "hwmon power"};
}

EnergyMeter hwmon_meter(const fs::path& folder, std::string& why) {
    for (const auto& sensors : entries(folder / "hwmon", "hwmon")) {
        if (const auto file = sensors / "energy1_input"; number(file))
            return {[file] { return number(file, 1e-6); }, "hwmon energy"};
        for (const char* name : {"power1_average", "power1_input"})
            if (number(sensors / name)) return integrated(sensors / name);
    }
    why = "none: " + (folder / "hwmon").string() + " has neither energy nor power";
    return {};
}

}  // namespace

EnergyMeter energy_meter(const model::Device& device, std::string& why, const Sources& sources) {
    if (device.implementation == model::Implementation::oclgrind) {
        why = "none: a simulator draws what simulating takes";
        return {};
    }
    if (device.is_cpu()) return rapl_meter(sources.sysfs, why);
    if (device.implementation == model::Implementation::nvidia) return nvml_meter(sources.nvml, device.identity, why);
    if (const auto folder = pci_folder(device, sources.sysfs, why)) return hwmon_meter(*folder, why);
    return {};
}

}  // namespace cllab::device
