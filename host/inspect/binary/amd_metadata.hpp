// The metadata note of an AMDGPU code object (V3 and later): MessagePack in the ELF note NT_AMDGPU_METADATA, keys after
// LLVM's AMDGPUUsage, "Code Object V3 Metadata".
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "inspect/binary/bounded_bytes.hpp"

namespace cllab::inspect {

/// The whole metadata document; nullopt if the file has no readable one.
std::optional<nlohmann::json> read_amd_metadata(ByteSpan code_object);

/// The metadata of kernel `entry`; nullptr if there is no such kernel.
const nlohmann::json* amd_kernel(const nlohmann::json& metadata, std::string_view entry);
/// One of a kernel's numbers, ".vgpr_count": registers per work-item (VGPR) and per wavefront (SGPR), bytes per
/// work-item (private) and work-group.
std::optional<std::int64_t> amd_number(const nlohmann::json& kernel, const char* key);

/// "gfx900" from amdhsa.target or from the processor in e_flags; empty if neither is known.
std::string amd_processor(ByteSpan code_object);

}  // namespace cllab::inspect
