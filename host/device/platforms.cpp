#include "device/platforms.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>

#include "core/embedded.hpp"
#include "core/error.hpp"
#include "core/grouped.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "device/sysfs.hpp"

namespace cllab::device {
namespace {

using model::Implementation;

// Constants of cl_nv_device_attribute_query and of the UUID and PCI queries, which some header sets lack.
constexpr cl_device_info nv_compute_capability_major = 0x4000;
constexpr cl_device_info nv_compute_capability_minor = 0x4001;
constexpr cl_device_info amd_max_work_group_size = 0x4031;  // cl_amd_device_attribute_query
constexpr cl_device_info nv_pci_bus_id = 0x4008;
constexpr cl_device_info nv_pci_slot_id = 0x4009;
constexpr cl_device_info nv_pci_domain_id = 0x400A;
constexpr cl_device_info khr_uuid = 0x106A;
constexpr cl_device_info khr_pci_bus_info = 0x410F;
constexpr cl_device_info amd_topology = 0x4037;
constexpr cl_device_info il_version = 0x105B;
constexpr cl_device_info intel_sub_group_sizes = 0x4108;

template <typename T>
T query(const cl::Device& device, cl_device_info what, T otherwise) {
    T out{};
    std::size_t size = 0;
    if (clGetDeviceInfo(device(), what, sizeof(T), &out, &size) != CL_SUCCESS || size != sizeof(T)) return otherwise;
    return out;
}

std::string text(const cl::Device& device, cl_device_info what) {
    std::size_t size = 0;
    if (clGetDeviceInfo(device(), what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
    std::string out(size, '\0');
    if (clGetDeviceInfo(device(), what, size, out.data(), nullptr) != CL_SUCCESS) return {};
    out.resize(std::strlen(out.c_str()));
    return trim(out);
}

Implementation implementation_of(const std::string& platform, const std::string& vendor, model::DeviceType type) {
    const auto p = lower(platform), v = lower(vendor);
    const auto has = [](const std::string& s, const char* part) { return s.find(part) != std::string::npos; };
    if (has(p, "portable computing")) return Implementation::pocl;
    if (has(p, "oclgrind")) return Implementation::oclgrind;
    if (has(p, "rusticl")) return Implementation::rusticl;
    if (has(p, "clover")) return Implementation::clover;
    if (has(p, "nvidia")) return Implementation::nvidia;
    if (has(p, "amd accelerated") || has(v, "advanced micro")) return Implementation::amd;
    if (has(p, "intel")) return type == model::DeviceType::cpu ? Implementation::intel_cpu : Implementation::intel_gpu;
    return Implementation::other;
}

model::DeviceType type_of(cl_device_type type) {
    if (type & CL_DEVICE_TYPE_GPU) return model::DeviceType::gpu;
    if (type & CL_DEVICE_TYPE_CPU) return model::DeviceType::cpu;
    if (type & CL_DEVICE_TYPE_ACCELERATOR) return model::DeviceType::accelerator;
    return model::DeviceType::other;
}

/// The UUID, empty if the driver has none. From OpenCL 3.1 on, it is a core query.
std::string uuid_of(const cl::Device& device, const model::Device& facts) {
    if (!facts.has("cl_khr_device_uuid") && facts.device_version < "OpenCL 3.1") return {};
    return uuid_text(query<std::array<unsigned char, 16>>(device, khr_uuid, {}));
}

std::string pci_of(const cl::Device& device, const model::Device& facts) {
    if (facts.has("cl_khr_pci_bus_info")) {
        const auto none = ~0u;
        const auto at = query<std::array<cl_uint, 4>>(device, khr_pci_bus_info, {none, none, none, none});
        if (at[1] != none) return pci_text(at[0], at[1], at[2], at[3]);
    }
    if (facts.implementation == Implementation::nvidia) {
        const auto bus = query<cl_uint>(device, nv_pci_bus_id, ~0u), slot = query<cl_uint>(device, nv_pci_slot_id, ~0u);
        // As in Linux's devfn, the slot has device and function.
        if (bus != ~0u && slot != ~0u)
            return pci_text(query<cl_uint>(device, nv_pci_domain_id, 0), bus, slot >> 3, slot & 7);
    }
    if (facts.has("cl_amd_device_attribute_query"))
        return amd_topology_text(query<std::array<unsigned char, 24>>(device, amd_topology, {}));
    return {};
}

/// Sets the last-level cache and NVIDIA's compute capability. Corrects the largest work-group.
void set_last_level(const cl::Device& device, model::Device& out) {
    if (out.implementation == Implementation::nvidia) {
        // NVIDIA reports 16 to 32 KiB times the SM count, which is no cache level; its largest L2 so far is 126 MB.
        const auto major = query<cl_uint>(device, nv_compute_capability_major, 0);
        const auto minor = query<cl_uint>(device, nv_compute_capability_minor, 0);
        out.compute_capability = static_cast<int>(major * 10 + minor);
        out.last_level_bytes = 128ull << 20;
        out.max_group = std::min<std::size_t>(out.max_group, 256);  // quirk nvidia-group-256
    } else if (out.is_gpu()) {
        // AMD reports 256 work-items, for a kernel without a stated work-group size. A kernel that states one may have
        // as many as this query says.
        if (out.implementation == Implementation::amd)
            out.max_group_promised = std::max(out.max_group, query<std::size_t>(device, amd_max_work_group_size, 0));
        out.last_level_bytes = std::max<std::uint64_t>(out.reported_cache_bytes, 256ull << 20);  // MI300X: 256 MB
    } else {
        // Intel's CPU runtime reports the second cache level, so arrays meant for memory would fit in the third.
        // llvmpipe reports none, and larger arrays would need loops with more iterations than it runs
        // (llvmpipe-loop-65535).
        if (out.is_cpu() && out.implementation != Implementation::rusticl) {
            out.host_cache_bytes = host_last_level_bytes();
            out.host_cache_levels = host_cache_levels();
        }
        out.last_level_bytes = std::max<std::uint64_t>({out.reported_cache_bytes, out.host_cache_bytes, 8ull << 20});
    }
}

model::Device facts_of(const cl::Platform& platform, const cl::Device& device, std::size_t p, std::size_t d) {
    model::Device out;
    out.selector = std::to_string(p) + ":" + std::to_string(d);
    out.platform = trim(platform.getInfo<CL_PLATFORM_NAME>().c_str());
    out.platform_version = trim(platform.getInfo<CL_PLATFORM_VERSION>().c_str());
    out.name = text(device, CL_DEVICE_NAME);
    out.vendor = text(device, CL_DEVICE_VENDOR);
    out.driver = text(device, CL_DRIVER_VERSION);
    out.device_version = text(device, CL_DEVICE_VERSION);
    out.c_version = text(device, CL_DEVICE_OPENCL_C_VERSION);
    out.type = type_of(query<cl_device_type>(device, CL_DEVICE_TYPE, 0));
    out.implementation = implementation_of(out.platform, out.vendor, out.type);
    // Oclgrind claims to be CPU, GPU and accelerator at once; a simulator must not be selected as a GPU.
    if (out.implementation == Implementation::oclgrind) out.type = model::DeviceType::accelerator;
    for (const auto& extension : split(text(device, CL_DEVICE_EXTENSIONS), ' ')) {
        if (!extension.empty()) out.extensions.insert(extension);
    }

    out.compute_units = std::max(1u, query<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS, 1));
    out.clock_mhz = query<cl_uint>(device, CL_DEVICE_MAX_CLOCK_FREQUENCY, 0);
    out.global_bytes = query<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE, 0);
    out.max_alloc_bytes = query<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, 0);
    out.local_bytes = query<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE, 0);
    out.constant_bytes = query<cl_ulong>(device, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, 0);
    out.reported_cache_bytes = query<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 0);
    out.cacheline_bytes = std::max(1u, query<cl_uint>(device, CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, 64));
    out.max_group = query<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, 1);
    out.max_group_promised = out.max_group;
    const auto items = device.getInfo<CL_DEVICE_MAX_WORK_ITEM_SIZES>();
    for (std::size_t i = 0; i < std::min<std::size_t>(3, items.size()); ++i) out.max_items[i] = items[i];
    out.base_align_bytes = std::max(1u, query<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, 1024) / 8);
    out.images = query<cl_bool>(device, CL_DEVICE_IMAGE_SUPPORT, CL_FALSE) == CL_TRUE;
    out.image2d_max_width = query<std::size_t>(device, CL_DEVICE_IMAGE2D_MAX_WIDTH, 0);
    out.image2d_max_height = query<std::size_t>(device, CL_DEVICE_IMAGE2D_MAX_HEIGHT, 0);
    out.fp64 = query<cl_device_fp_config>(device, CL_DEVICE_DOUBLE_FP_CONFIG, 0) != 0;
    out.fp16 = out.has("cl_khr_fp16");
    out.local_is_dedicated = query<cl_device_local_mem_type>(device, CL_DEVICE_LOCAL_MEM_TYPE, 0) == CL_LOCAL;
    out.little_endian = query<cl_bool>(device, CL_DEVICE_ENDIAN_LITTLE, CL_TRUE) == CL_TRUE;
    out.unified_memory = query<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY, CL_FALSE) == CL_TRUE;
    out.pci = pci_of(device, out);
    const auto uuid = uuid_of(device, out);
    out.identity = uuid.empty() ? out.pci : uuid;
    out.il_versions = text(device, il_version);
    if (out.has("cl_intel_required_subgroup_size")) device.getInfo(intel_sub_group_sizes, &out.sub_group_sizes);
    set_last_level(device, out);
    out.preferred_multiple = out.implementation == Implementation::nvidia ? query<cl_uint>(device, 0x4003, 32) : 0;
    return out;
}

namespace fs = std::filesystem;

std::string line_of(const fs::path& file) { return first_line(file).value_or(""); }

/// Reads the size in a cache's folder, such as "32768K"; 0 if there is none.
std::uint64_t cache_bytes(const fs::path& cache) {
    const auto size = line_of(cache / "size");
    return size.ends_with('K') ? std::strtoull(size.c_str(), nullptr, 10) << 10 : 0;
}

}  // namespace

std::string uuid_text(const std::array<unsigned char, 16>& uuid) {
    if (std::ranges::all_of(uuid, [](unsigned char byte) { return byte == 0; })) return {};
    return fmt::format("UUID {:02x}", fmt::join(uuid, ""));
}

std::string pci_text(unsigned domain, unsigned bus, unsigned device, unsigned function) {
    return fmt::format("PCI {:04x}:{:02x}:{:02x}.{:x}", domain, bus, device, function);
}

std::string amd_topology_text(const std::array<unsigned char, 24>& topology) {
    std::uint32_t type = 0;
    std::memcpy(&type, topology.data(), sizeof type);
    return type == 1 ? pci_text(0, topology[21], topology[22], topology[23]) : std::string();
}

std::uint64_t host_last_level_bytes(const fs::path& processors) {
    int highest = 0;
    std::map<std::string, std::uint64_t> instances;  // caches of that level, by the processors that share one
    for (const auto& processor : entries(processors, "cpu")) {
        for (const auto& cache : entries(processor / "cache", "index")) {
            const int level = std::atoi(line_of(cache / "level").c_str());
            if (level > highest) {
                highest = level;
                instances.clear();
            }
            if (level < highest) continue;
            if (const auto bytes = cache_bytes(cache)) instances[line_of(cache / "shared_cpu_list")] = bytes;
        }
    }
    std::uint64_t total = 0;
    for (const auto& [sharing, bytes] : instances) total += bytes;
    return total;
}

std::vector<std::uint64_t> host_cache_levels(const fs::path& processors) {
    std::map<int, std::uint64_t> levels;
    for (const auto& cache : entries(processors / "cpu0" / "cache", "index")) {
        const int level = std::atoi(line_of(cache / "level").c_str());
        if (level > 0 && line_of(cache / "type") != "Instruction") levels[level] = cache_bytes(cache);
    }
    std::vector<std::uint64_t> out;
    for (const auto& [level, bytes] : levels) {
        // A missing level, or one without a size, would shift the levels after it.
        if (bytes == 0 || level != static_cast<int>(out.size()) + 1) return {};
        out.push_back(bytes);
    }
    return out;
}

/// The loader of the drivers and its setting: "'/lib/libOpenCL.so.1' (OCL_ICD_VENDORS is not set)".
static std::string loader() {
    Dl_info found{};
    const char* const told = std::getenv("OCL_ICD_VENDORS");
    const bool is_known = dladdr(dlsym(RTLD_DEFAULT, "clGetPlatformIDs"), &found) != 0;
    return "'" + std::string(is_known ? found.dli_fname : "libOpenCL") + "'" +
           (told ? " (OCL_ICD_VENDORS='" + excerpt(told) + "')" : " (OCL_ICD_VENDORS is not set)");
}

std::vector<Found> discover(std::vector<std::string>* troubles) {
    const auto note = [&](const std::string& line) {
        if (troubles) troubles->push_back(line);
    };
    std::vector<cl::Platform> platforms;
    try {
        cl::Platform::get(&platforms);
    } catch (const cl::Error&) {
        // The loader returns CL_PLATFORM_NOT_FOUND_KHR if no ICD is registered: same as an empty list.
    }
    std::vector<Found> out;
    for (std::size_t p = 0; p < platforms.size(); ++p) {
        std::vector<cl::Device> devices;
        try {
            platforms[p].getDevices(CL_DEVICE_TYPE_ALL, &devices);
        } catch (const cl::Error& e) {
            if (e.err() != CL_DEVICE_NOT_FOUND)
                note("platform " + std::to_string(p) + " cannot list its devices: " + error_name(e.err()));
            continue;
        }
        for (std::size_t d = 0; d < devices.size(); ++d) {
            try {
                out.push_back({platforms[p], devices[d], facts_of(platforms[p], devices[d], p, d)});
            } catch (const cl::Error& e) {
                note("device " + std::to_string(p) + ":" + std::to_string(d) + " is left out, it fails " + e.what() +
                     " with " + error_name(e.err()));
            }
        }
    }
    // Drivers that invent UUIDs give identical devices the same one.
    for (std::size_t i = out.size(); i-- > 0;) {
        auto& facts = out[i].facts;
        const auto same = std::count_if(out.begin(), out.begin() + static_cast<long>(i), [&](const Found& other) {
            return other.facts.platform == facts.platform && other.facts.name == facts.name &&
                   other.facts.identity == facts.identity;
        });
        if (same > 0 && !facts.identity.empty()) facts.identity += " no. " + std::to_string(same + 1);
    }
    if (out.empty())
        throw Error(Blame::environment,
                    platforms.empty() ? "no OpenCL platform is registered with the loader " + loader()
                                      : concat("the ", platforms.size(), " OpenCL platform(s) here have no device"),
                    "; on Debian or Ubuntu, `apt-get install pocl-opencl-icd` installs a driver for any CPU");
    return out;
}

std::string error_name(cl_int code) {
    const auto number = std::to_string(code);
    for (const auto& line : split(embedded("device/errors.txt"), '\n'))
        if (line.starts_with(number + " ")) return line.substr(number.size() + 1) + " (" + number + ")";
    return "OpenCL error " + number;
}

namespace {

std::string listing(const std::vector<model::Device>& devices, const std::vector<std::size_t>& which) {
    return join(which, ", ", [&](std::size_t i) {
        const auto& d = devices[i];
        return concat(d.selector, " '", d.name, "' (", d.platform, ", ", model::name(d.type), ")");
    });
}

/// "there is 1: 0:0 'cpu-EPYC' (Portable Computing Language, cpu)"
std::string there_are(const std::vector<model::Device>& devices) {
    return (devices.size() == 1 ? "there is 1: " : "there are " + std::to_string(devices.size()) + ": ") +
           listing(devices, places_in(devices));
}

[[noreturn]] void no_match(const std::vector<model::Device>& devices, const std::string& selector) {
    std::vector<std::string> known{"cpu", "gpu", "accelerator", "all"};
    for (const auto& device : devices)
        for (const auto& name : {device.name, device.platform})
            for (auto& word : split(name, ' ')) known.push_back(std::move(word));
    throw Error(Blame::environment,
                "no device matches '" + selector + "'; " + there_are(devices) + or_did_you_mean(selector, known));
}

std::optional<std::size_t> of_type(const std::vector<model::Device>& devices, model::DeviceType type,
                                   const std::function<bool(std::size_t)>& trusted) {
    const auto candidates = places_where(devices, [&](const auto& device) { return device.type == type; });
    if (candidates.empty()) return std::nullopt;
    if (candidates.size() > 1) {
        for (std::size_t i : candidates) {
            if (trusted(i)) return i;
        }
    }
    return candidates.front();
}

/// `wanted`: "uuid:" and hexadecimal digits, with or without dashes; or "pci:" and an address, with or without its
/// domain.
bool is_at(const model::Device& device, const std::string& wanted) {
    if (wanted.starts_with("uuid:")) {
        auto digits = wanted.substr(5);
        std::erase(digits, '-');
        return device.identity == "UUID " + digits;
    }
    const auto address = wanted.substr(4);
    return !device.pci.empty() && (device.pci == "PCI " + address || device.pci == "PCI 0000:" + address);
}

std::vector<std::size_t> resolve_one(const std::vector<model::Device>& devices, const std::string& selector,
                                     const std::function<bool(std::size_t)>& trusted) {
    const auto wanted = lower(selector);
    if (wanted == "all") return places_in(devices);
    for (const auto type : {model::DeviceType::cpu, model::DeviceType::gpu, model::DeviceType::accelerator}) {
        if (wanted != model::name(type)) continue;
        const auto found = of_type(devices, type, trusted);
        if (!found)
            throw Error(Blame::environment, "no device matches '" + selector + "', because none here is of type " +
                                                wanted + "; " + there_are(devices));
        return {*found};
    }
    if (wanted.starts_with("uuid:") || wanted.starts_with("pci:")) {
        const auto matches = places_where(devices, [&](const auto& device) { return is_at(device, wanted); });
        if (matches.empty()) no_match(devices, selector);
        return matches;
    }
    const auto parts = split(wanted, ':');
    const bool numeric = parts.size() <= 2 &&
                         std::ranges::all_of(parts, [](const auto& part) { return parse_integer(part).has_value(); });
    const auto matches = places_where(devices, [&](const model::Device& d) {
        return numeric
                   ? d.selector == wanted || (parts.size() == 1 && split(d.selector, ':')[0] == wanted)
                   : lower(d.name).find(wanted) != std::string::npos ||
                         lower(d.platform).find(wanted) != std::string::npos || wanted == model::name(d.implementation);
    });
    if (matches.empty()) no_match(devices, selector);
    if (matches.size() > 1 && !numeric)
        throw Error(Blame::usage, "device '" + selector + "' is ambiguous; it matches " + listing(devices, matches));
    return matches;  // a platform index alone selects all its devices
}

}  // namespace

std::vector<std::size_t> resolve(const std::vector<model::Device>& devices, const std::vector<std::string>& selectors,
                                 const std::function<bool(std::size_t)>& trusted) {
    std::vector<std::size_t> out;
    if (selectors.empty()) {
        for (const auto type : {model::DeviceType::gpu, model::DeviceType::cpu}) {
            if (const auto found = of_type(devices, type, trusted)) return {*found};
        }
        return {0};
    }
    for (const auto& selector : selectors)
        for (const std::size_t i : resolve_one(devices, selector, trusted)) add_once(out, i);
    return out;
}

}  // namespace cllab::device
