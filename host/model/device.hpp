// What an experiment knows about a device: plain data, filled by device/platforms.cpp or by a test.
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

/// The OpenCL implementation behind a platform: quirks and vendor paths hang on it.
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
    std::uint64_t host_cache_bytes = 0;      ///< a CPU's last level by the operating system, all instances; 0: unknown
    std::vector<std::uint64_t> host_cache_levels;  ///< data a CPU's levels hold by the operating system, one instance
                                                   ///< each, first level first; empty: unknown
    std::uint64_t last_level_bytes = 0;            ///< best knowledge of the last-level cache, at least an upper guess
    unsigned cacheline_bytes = 64;
    std::size_t max_group = 1;           ///< work-items of a group whose kernel does not promise its size
    std::size_t max_group_promised = 1;  ///< of one that does (reqd_work_group_size); the executor promises
                                         ///< when all launches of a setup share one local size above max_group
    std::array<std::size_t, 3> max_items{1, 1, 1};  ///< work-items in each dimension
    unsigned preferred_multiple = 0;  ///< of a trivial kernel: warp or wavefront on GPUs; 0 until a session asked
    unsigned base_align_bytes = 128;
    bool images = false, fp64 = false, fp16 = false, local_is_dedicated = false, little_endian = true;
    bool unified_memory = false;
    std::size_t image2d_max_width = 0, image2d_max_height = 0;
    std::set<std::string> extensions;
    int compute_capability = 0;  ///< NVIDIA: 90 for sm_90; 0 elsewhere
    std::string identity;        ///< UUID or PCI address where given, else empty
    std::string pci;             ///< "PCI 0000:3b:00.0" where given, else empty
    std::string il_versions;     ///< of intermediate languages: "SPIR-V_1.2 SPIR-V_1.0"; empty: none
    std::vector<std::size_t> sub_group_sizes;  ///< that the device says its kernels may have; empty: it does not say

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

// Figures of a device's profile, as later commands use them.

/// One figure of a profile. Facts are joined by `id`, never by the name that people read.
struct Figure {
    std::string id;  ///< "<family>.<finding>": "fma.peak.float", "latency.l1.size"
    std::string name, unit;
    double value = 0, low = 0, high = 0;
    bool of_profile = true;  ///< false: measured since

    /// The name shown beside results that use the figure.
    std::string title() const { return of_profile ? name : name + ", measured now"; }
};

/// Figures that no kernel can beat, and the sizes of the caches. Zero: not measured.
struct Limits {
    std::string utc;                         ///< when the profile was taken
    double float_peak = 0, double_peak = 0;  ///< FLOP/s
    double bandwidth = 0;                ///< B/s of the fastest level; only when a sweep through the levels was made
    std::string bandwidth_name;          ///< the figure it is from, as people read it
    double empty_launch_seconds = 0;     ///< START to END
    std::uint64_t last_level_bytes = 0;  ///< smallest footprint of a chase seen not to fit, or largest region read at a
                                         ///< cache's bandwidth; only when memory was seen beyond
    std::vector<Figure> figures;         ///< all of the profile
    /// Bytes that one instance of each level of a CPU holds by the operating system, first level first.
    std::vector<std::uint64_t> caches;
    unsigned units = 1;          ///< that the driver reports
    int compute_capability = 0;  ///< NVIDIA: 90 for sm_90; 0 elsewhere
    /// Bytes and seconds a load of the chases in random order, by ascending bytes; of two kinds of pages the slower
    /// one.
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

    /// A figure by id; null if the profile has none above zero.
    const Figure* find(const std::string& id) const {
        const auto found = std::ranges::find_if(figures, [&](const Figure& f) { return f.id == id; });
        return found == figures.end() || !(found->value > 0) ? nullptr : &*found;
    }
};

}  // namespace cllab::model
