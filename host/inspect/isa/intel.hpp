// `ocloc` (Debian intel-opencl-icd): compiles for Intel GPUs and takes their binaries apart.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "inspect/isa/isa.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::inspect::xe {

extern const std::string missing_ocloc;  ///< the sentence that says how to get it

std::optional<std::filesystem::path> ocloc();

/// Both streams in one text, `err`. `folder`: for what ocloc must find.
ToolResult run_ocloc(const TempFolder& folder, const std::filesystem::path& tool, std::vector<std::string> arguments,
                     std::chrono::milliseconds limit = std::chrono::seconds(60));

void read_facts(Analysis& analysis, nlohmann::json& facts, const FactsRequest& request);
std::optional<Occupancy> occupancy(const std::string& processor, const KernelNeeds& needs);

extern const OfflineCompiler compiler;

}  // namespace cllab::inspect::xe
