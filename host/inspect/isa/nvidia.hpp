// What PTX and SASS share: the facts of a kernel, the limits of the processors, the compiler.
#pragma once

#include "inspect/isa/isa.hpp"

namespace cllab::inspect {

/// SASS by nvdisasm or cuobjdump, cut to `entry`.
Disassembly disassemble_cubin(ByteSpan cubin, const std::string& entry, const std::string& title);

}  // namespace cllab::inspect

namespace cllab::inspect::nvidia {

/// The driver's own log describes the code that ran; ptxas of another release is the second choice.
void read_facts(Analysis& analysis, nlohmann::json& facts, const FactsRequest& request);

/// `processor` is "sm_90". Limits: the technical specifications per compute capability in the CUDA C++ Programming
/// Guide.
std::optional<Occupancy> occupancy(const std::string& processor, const KernelNeeds& needs);

inline constexpr ShownFact spill_loads{"spill_load_bytes", "spill loads", " byte", false};

extern const OfflineCompiler compiler;

/// Whether this ptxas lists the processor.
bool assembles(const std::filesystem::path& ptxas, int sm);

}  // namespace cllab::inspect::nvidia
