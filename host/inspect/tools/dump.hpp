// The dump of one cell: what was compiled, what came out, and what it says when read; and whose a folder below the
// dumps is: what two devices, two runs and the user leave there is never mixed.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/descriptor.hpp"
#include "inspect/binary/bounded_bytes.hpp"
#include "inspect/code/analysis.hpp"
#include "model/device.hpp"
#include "model/result.hpp"

namespace cllab::inspect {

/// The folder of `device` below `root`: its name, with -2, -3, … where another device of that name came first.
/// device.txt in it says whose it is: platform, name and identity, and the host, which only a GPU's UUID makes
/// needless. Nothing is made.
std::filesystem::path device_folder(const std::filesystem::path& root, const model::Device& device,
                                    const std::string& host);

/// The same folder, made and marked as this device's. Throws Error(environment).
std::filesystem::path claim_device_folder(const std::filesystem::path& root, const model::Device& device,
                                          const std::string& host);

/// A dump folder while it is written, locked against other runs. Its files.txt names what the lab wrote there; only
/// that is ever replaced.
class DumpFolder {
public:
    /// Makes the folder, waits up to 10 s for another run that writes there, removes what an earlier dump left and
    /// writes the list of `files` to come. Throws Error(environment) when it cannot, or when one of `files` is there
    /// and not the lab's.
    DumpFolder(const std::filesystem::path& folder, const std::vector<std::string>& files);

    /// Writes one of the files. A dump is whole or not there: when the disk does not take it, all of its files go.
    /// Throws Error(environment).
    void write(const std::string& file, ByteSpan content);

private:
    std::filesystem::path folder_;
    std::vector<std::string> files_;
    Descriptor list_;
};

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

/// Writes one more file into a whole dump, and its name into the list. Throws Error(environment).
void add_to_dump(const std::filesystem::path& folder, const std::string& file, ByteSpan content);

/// What a dump says, read back. The strings are empty when a file is missing.
struct DumpTexts {
    std::string isa, summary;
    std::string counted_isa, function;  ///< of the listing closest to the hardware that was counted: "sass", "vadd"
};
DumpTexts read_dump(const std::filesystem::path& folder);

}  // namespace cllab::inspect
