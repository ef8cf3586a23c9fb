// Every device that the ICD loader shows, as plain facts beside its handle, and which of them --device means.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "device/cl.hpp"
#include "model/device.hpp"

namespace cllab::device {

struct Found {
    cl::Platform platform;
    cl::Device device;
    model::Device facts;
};

/// The bytes of cl_khr_device_uuid as "UUID 0123…"; empty when all are zero, which some drivers answer for "none".
std::string uuid_text(const std::array<unsigned char, 16>& uuid);
/// "PCI 0000:c1:00.0": domain, bus, device and function as lspci writes them.
std::string pci_text(unsigned domain, unsigned bus, unsigned device, unsigned function);
/// The same from the 24 bytes of CL_DEVICE_TOPOLOGY_AMD (a 32-bit type, 1 for PCIe; bus, device and function are the
/// last three bytes); empty for another type.
std::string amd_topology_text(const std::array<unsigned char, 24>& topology);

/// Bytes of the processors' last-level caches together, as Linux describes them below `processors`; 0 where it does
/// not.
std::uint64_t host_last_level_bytes(const std::filesystem::path& processors = "/sys/devices/system/cpu");

/// Bytes of one instance of each level that holds data, first level first, as Linux describes processor 0 below
/// `processors`; empty where it does not.
std::vector<std::uint64_t> host_cache_levels(const std::filesystem::path& processors = "/sys/devices/system/cpu");

/// All devices of all platforms, in clinfo's order. A platform or device that fails its queries is left out, with a
/// line in `troubles`. Throws Error(environment) with the way to get one when there is no device at all.
std::vector<Found> discover(std::vector<std::string>* troubles = nullptr);

/// What --device names: cpu, gpu, accelerator, all, P, P:D or part of a name. Indices into `devices`, each once, in the
/// order asked. `trusted(i)` is asked only where a type selector has more than one candidate. An empty `selectors`
/// means the first GPU, else the first CPU, else the first device. Throws Error(environment) when nothing matches and
/// Error(usage) when a name is ambiguous; both list the candidates.
std::vector<std::size_t> resolve(const std::vector<model::Device>& devices, const std::vector<std::string>& selectors,
                                 const std::function<bool(std::size_t)>& trusted);

}  // namespace cllab::device
