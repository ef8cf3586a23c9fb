// How many wavefronts or warps a kernel's registers and local memory leave room for, with the arithmetic written out.
// GCN, CDNA and RDNA: LLVM's AMDGPUBaseInfo.cpp (total VGPRs, granule, waves per SIMD). NVIDIA: the technical
// specifications per compute capability in the CUDA C++ Programming Guide.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cllab::inspect {

struct Occupancy {
    unsigned waves = 0;      ///< resident at once, in `unit`
    unsigned most = 0;       ///< what the hardware holds at most
    std::string unit;        ///< "wavefronts per SIMD", "warps per SM"
    std::string limited_by;  ///< "registers", "local memory", "hardware", "work-group size"
    std::string formula;     ///< "min(10, floor(256 / roundup(7, 4)) = 32, …) = 10"
};

/// `wavefront` is in work-items: 32 or 64 on RDNA, as the compiler chose. `group_items` is the work-group size; 0 when
/// unknown, which leaves local memory out of account.
struct KernelNeeds {
    std::int64_t registers = 0, scalar_registers = 0, local_bytes = 0, wavefront = 0;
    std::size_t group_items = 0;
};

/// Nothing for a processor whose limits are not in the table, or when the wavefront is not known.
std::optional<Occupancy> amd_occupancy(const std::string& processor, const KernelNeeds& needs);
/// `sm` is the compute capability as a number, 90 for sm_90.
std::optional<Occupancy> nvidia_occupancy(int sm, const KernelNeeds& needs);

}  // namespace cllab::inspect
