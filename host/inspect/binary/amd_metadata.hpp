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

/// Registers are per work-item (VGPR) and per wavefront (SGPR); bytes per work-item (private) and work-group (local).
struct AmdKernelFacts {
    std::optional<std::int64_t> vgprs, agprs, sgprs, vgpr_spills, sgpr_spills, private_bytes, local_bytes, wavefront,
        max_group;
};

/// The whole metadata document, or nothing when the file has no readable one.
std::optional<nlohmann::json> read_amd_metadata(ByteSpan code_object);

/// Facts of kernel `entry`; nothing when the metadata has no such kernel.
std::optional<AmdKernelFacts> amd_kernel_facts(const nlohmann::json& metadata, std::string_view entry);

/// "gfx900" from amdhsa.target or the processor in e_flags; empty when neither is known.
std::string amd_processor(ByteSpan code_object);

}  // namespace cllab::inspect
