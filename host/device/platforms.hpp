// All devices of the ICD loader, with their properties as plain data, and the selection by --device.
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

/// The bytes of cl_khr_device_uuid as "UUID 0123…". Empty if all are zero: some drivers return zeros if they have
/// none.
std::string uuid_text(const std::array<unsigned char, 16>& uuid);
/// "PCI 0000:c1:00.0": domain, bus, device and function, as lspci prints them.
std::string pci_text(unsigned domain, unsigned bus, unsigned device, unsigned function);
/// The same for the 24 bytes of CL_DEVICE_TOPOLOGY_AMD: a 32-bit type, 1 for PCIe; the last three bytes are bus, device
/// and function. Empty for another type.
std::string amd_topology_text(const std::array<unsigned char, 24>& topology);

/// Total bytes of the processors' last-level caches, from Linux's files below `processors`; 0 if the files do not give
/// it.
std::uint64_t host_last_level_bytes(const std::filesystem::path& processors = "/sys/devices/system/cpu");

/// Bytes of one instance of each data cache level of processor 0, first level first, from Linux's files below
/// `processors`. Empty if the files do not give it.
std::vector<std::uint64_t> host_cache_levels(const std::filesystem::path& processors = "/sys/devices/system/cpu");

/// All devices of all platforms, in clinfo's order. Skips a platform or device that fails its queries and adds a line
/// to `troubles`. If there is no device at all, throws Error(environment) that says how to get one.
std::vector<Found> discover(std::vector<std::string>* troubles = nullptr);

/// Resolves --device: cpu, gpu, accelerator, all, P, P:D, uuid:…, pci:… or part of a name. Returns indices into
/// `devices`, each once, in the order requested. Calls `trusted(i)` only if a type has more than one candidate. Empty
/// `selectors` mean the first GPU, else the first CPU, else the first device. Throws Error(environment) if nothing
/// matches and Error(usage) if a name is ambiguous; both list the candidates.
std::vector<std::size_t> resolve(const std::vector<model::Device>& devices, const std::vector<std::string>& selectors,
                                 const std::function<bool(std::size_t)>& trusted);

}  // namespace cllab::device
