// What PTX and SASS share: the facts of a kernel, the limits of the processors, the compiler.
#pragma once

#include "inspect/isa/isa.hpp"

namespace cllab::inspect {

/// SASS of `entry`, by nvdisasm or cuobjdump.
Disassembly disassemble_cubin(ByteSpan cubin, const std::string& entry, const std::string& title);

}  // namespace cllab::inspect

namespace cllab::inspect::nvidia {

/// Facts from the driver's log, which describes the code that ran; otherwise from the cubin, or from ptxas on this
/// machine.
void read_facts(Analysis& analysis, nlohmann::json& facts, const FactsRequest& request);

/// `processor`: such as "sm_90". Source of the limits: technical specifications per compute capability in the CUDA C++
/// Programming Guide.
std::optional<Occupancy> occupancy(const std::string& processor, const KernelNeeds& needs);

inline constexpr ShownFact spill_loads{"spill_load_bytes", "spill loads", " byte", false};

extern const OfflineCompiler compiler;

/// Whether this ptxas lists the processor.
bool assembles(const std::filesystem::path& ptxas, int sm);

}  // namespace cllab::inspect::nvidia
