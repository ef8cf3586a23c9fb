// The facts about a device that experiments use: plain data, filled by device/platforms.cpp or by a test.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cllab::model {

enum class DeviceType { cpu, gpu, accelerator, other };

/// The OpenCL implementation of a platform. It selects quirks and vendor-specific code.
enum class Implementation { pocl, nvidia, amd, intel_cpu, intel_gpu, rusticl, clover, oclgrind, other };

struct Device {
    std::string selector;  ///< "0:0", clinfo's indices
    std::string platform, platform_version, name, vendor, driver, device_version, c_version;
    DeviceType type = DeviceType::other;
    Implementation implementation = Implementation::other;

    unsigned compute_units = 1;
    unsigned clock_mhz = 0;  ///< as reported; never used to compute cycles
    std::uint64_t global_bytes = 0;
    std::uint64_t max_alloc_bytes = 0;
    std::uint64_t local_bytes = 0;
    std::uint64_t constant_bytes = 0;
    std::uint64_t reported_cache_bytes = 0;  ///< CL_DEVICE_GLOBAL_MEM_CACHE_SIZE; not the last level on NVIDIA
    /// Size of a CPU's last level, all instances, from the operating system; 0: unknown.
    std::uint64_t host_cache_bytes = 0;
    /// Bytes of one instance of each data cache level of a CPU, from the operating system, first level first; empty:
    /// unknown.
    std::vector<std::uint64_t> host_cache_levels;
    std::uint64_t last_level_bytes = 0;  ///< best known size of the last-level cache, or else an upper estimate
    unsigned cacheline_bytes = 64;
    std::size_t max_group = 1;  ///< maximum work-items of a group if the kernel does not promise its size
    /// Maximum if it does (reqd_work_group_size); the executor promises if all launches of a setup have the same local
    /// size above max_group.
    std::size_t max_group_promised = 1;
    std::array<std::size_t, 3> max_items{1, 1, 1};  ///< maximum work-items of a group in each dimension
    /// Of a trivial kernel: warp or wavefront size on GPUs; 0 until a session has queried it.
    unsigned preferred_multiple = 0;
    unsigned base_align_bytes = 128;
    bool images = false, fp64 = false, fp16 = false, local_is_dedicated = false, little_endian = true;
    bool unified_memory = false;
    std::size_t image2d_max_width = 0, image2d_max_height = 0;
    std::set<std::string> extensions;
    int compute_capability = 0;                ///< NVIDIA: 90 for sm_90; 0 elsewhere
    std::string identity;                      ///< UUID or PCI address; empty if the driver reports neither
    std::string pci;                           ///< "PCI 0000:3b:00.0"; empty if the driver does not report it
    std::string il_versions;                   ///< intermediate languages: "SPIR-V_1.2 SPIR-V_1.0"; empty: none
    std::vector<std::size_t> sub_group_sizes;  ///< sub-group sizes that the device reports; empty: not reported

    bool is_gpu() const { return type == DeviceType::gpu; }
    bool is_cpu() const { return type == DeviceType::cpu; }
    bool has(const std::string& extension) const { return extensions.count(extension) != 0; }
};

const char* name(DeviceType type);
const char* name(Implementation implementation);

/// Range of the bytes of both buffers of a copy that runs in the last-level cache: more than `first`, so that the
/// cores' own levels cannot hold most of it, and at most `second`, the shared level's size. nullopt if the system does
/// not describe the caches. A copy that fits the cores' own levels ends before all cores have joined the launch (`cllab
/// run bandwidth_copy` on PoCL: two cores copy 3 MiB at 65 GB/s and 1.5 MiB at 102 to 114 GB/s).
inline std::optional<std::pair<double, double>> copied_in_last_level(const Device& device) {
    const auto& levels = device.host_cache_levels;
    if (levels.empty()) return std::nullopt;
    const double units = device.compute_units > 0 ? device.compute_units : 1;
    const double below = units * (levels.size() > 1 ? static_cast<double>(levels[levels.size() - 2]) : 4096.0);
    return std::pair{2 * below, 0.75 * static_cast<double>(levels.back())};
}

// The figures of a device's profile that other commands use.

/// One figure of a profile. Code finds a figure by `id`, never by its displayed name.
struct Figure {
    std::string id;  ///< "<family>.<finding>": "fma.peak.float", "latency.l1.size"
    std::string name, unit;
    double value = 0, low = 0, high = 0;
    bool of_profile = true;  ///< false: measured later than the profile

    /// The name to show next to results that use the figure.
    std::string title() const { return of_profile ? name : name + ", measured now"; }
};

/// Figures that no kernel can beat, and the sizes of the caches. Zero: not measured.
struct Limits {
    std::string utc;                         ///< time of the profile
    double disturbed = 0;                    ///< share of the profile's timed cells whose threads lacked cores
    double float_peak = 0, double_peak = 0;  ///< FLOP/s
    double bandwidth = 0;                    ///< B/s of the fastest cache level; 0 without a sweep through the levels
    std::string bandwidth_name;              ///< displayed name of the figure that `bandwidth` is from
    double empty_launch_seconds = 0;         ///< from the event's START to its END
    /// Smallest footprint of a chase that did not fit, or largest region that was read at a cache's bandwidth. 0 if the
    /// measurement did not reach memory.
    std::uint64_t last_level_bytes = 0;
    std::vector<Figure> figures;  ///< all figures of the profile
    /// Bytes of one instance of each cache level of a CPU, from the operating system, first level first.
    std::vector<std::uint64_t> caches;
    unsigned units = 1;          ///< compute units that the driver reports
    int compute_capability = 0;  ///< NVIDIA: 90 for sm_90; 0 elsewhere
    /// Footprint in bytes and seconds per load of the chases in random order, by ascending bytes. If two kinds of pages
    /// were measured, the slower one.
    std::vector<std::pair<double, double>> scattered;

    /// Seconds per load of a random chase through `bytes`, interpolated between the measured footprints; 0 without
    /// measurements.
    double scattered_load(double bytes) const {
        for (std::size_t i = 0; i < scattered.size(); ++i) {
            if (scattered[i].first == bytes) return scattered[i].second;
            if (scattered[i].first < bytes) continue;
            if (i == 0) break;
            const auto& [x0, y0] = scattered[i - 1];
            const auto& [x1, y1] = scattered[i];
            return y0 * std::pow(y1 / y0, std::log(bytes / x0) / std::log(x1 / x0));
        }
        return 0;
    }

    /// The figure with this id; null if the profile lacks it or its value is not above zero.
    const Figure* find(const std::string& id) const {
        const auto found = std::ranges::find_if(figures, [&](const Figure& f) { return f.id == id; });
        return found == figures.end() || !(found->value > 0) ? nullptr : &*found;
    }
};

}  // namespace cllab::model
