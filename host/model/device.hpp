// What an experiment may know of a device: plain data, filled by device/platforms.cpp or by a test.
#pragma once

#include <array>
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

    bool is_gpu() const { return type == DeviceType::gpu; }
    bool is_cpu() const { return type == DeviceType::cpu; }
    bool has(const std::string& extension) const { return extensions.count(extension) != 0; }
};

const char* name(DeviceType type);
const char* name(Implementation implementation);

/// Bytes of both buffers of a copy: more than `first`, the cores' own levels cannot hold most of it; up to `second` it
/// fits in the last one, which is one for all. Nothing where the system does not describe the caches. A copy that fits
/// the cores' own levels ends before all cores have joined the launch (`cllab run bandwidth_copy` on PoCL: two cores
/// copy 3 MiB at 65 GB/s and 1.5 MiB at 102 to 114 GB/s).
inline std::optional<std::pair<double, double>> copied_in_last_level(const Device& device) {
    const auto& levels = device.host_cache_levels;
    if (levels.empty()) return std::nullopt;
    const double units = device.compute_units > 0 ? device.compute_units : 1;
    const double below = units * (levels.size() > 1 ? static_cast<double>(levels[levels.size() - 2]) : 4096.0);
    return std::pair{2 * below, 0.75 * static_cast<double>(levels.back())};
}

}  // namespace cllab::model
