// Writes the sidecars of one cell: what was compiled, what came out, and what it says when read.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inspect/code/analysis.hpp"
#include "inspect/tools/dump_folder.hpp"
#include "model/device.hpp"
#include "model/hot.hpp"

namespace cllab::inspect {

/// The record of the cell beside its dump, written by whoever has the whole record.
inline constexpr const char* timing_file = "timing.json";

struct DumpRequest {
    std::filesystem::path folder;  ///< made when missing; the files of an earlier dump are removed
    std::string entry;             ///< kernel name
    std::string source, options, build_log;
    std::span<const std::byte> binary;  ///< of this device; empty when the driver has none
    const model::Device& device;
    LaunchSize launch{};
    std::chrono::milliseconds tool_budget = std::chrono::seconds(30);  ///< of all disassemblers together
    std::string ran{};                                                 ///< as DisassembleOptions::ran
    std::optional<model::Hot> hot{};                                   ///< for isa.txt and stats.json
};

/// The part of a binary's code that this launch ran, for a binary that holds the code of several: two requests of equal
/// binary, entry, log and local size may still differ in it. Empty elsewhere.
std::string code_that_ran(const DumpRequest& request);

/// What the binary and the build log say, without writing anything.
Analysis read_code(const DumpRequest& request);

/// Writes source.cl, options.txt, build.log, the binary under its true kind, isa.txt and stats.json. isa.txt is the
/// disassembly, or a line that says which tool would make it and how to get it. The folder stays locked for as long as
/// what is returned lives: until timing_file is beside them. Throws Error(environment) when the folder cannot be
/// written, and then leaves no dump there.
DumpFolder write_sidecars(const DumpRequest& request, const Analysis& analysis);

/// What a dump says, read back. The strings are empty when a file is missing.
struct DumpTexts {
    std::string isa, summary;
    std::string counted_isa, function;  ///< of the listing closest to the hardware that was counted: "sass", "vadd"
};
DumpTexts read_dump(const std::filesystem::path& folder);

}  // namespace cllab::inspect
