// The dump of one cell: its source, its binary, and what the binary contains. Each folder of dumps has one owner: files
// of two devices, of two runs and of the user are never mixed.
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

/// The folder of `device` below `root`: its name, with -2, -3, … if another device of that name came first.
/// device.txt in it names the owner: platform, name, identity, and the host, which is omitted for a GPU with a UUID.
/// Creates nothing.
std::filesystem::path device_folder(const std::filesystem::path& root, const model::Device& device,
                                    const std::string& host);

/// The same folder, created and marked as this device's. Throws Error(environment).
std::filesystem::path claim_device_folder(const std::filesystem::path& root, const model::Device& device,
                                          const std::string& host);

/// A dump folder while it is written, locked against other runs. Its files.txt lists the files that the lab wrote
/// there; only these are ever replaced.
class DumpFolder {
public:
    /// Creates the folder and waits up to 10 s for another run that writes there. Then removes the files of an earlier
    /// dump and writes the list of `files`. Throws Error(environment) if it cannot, or if one of `files` exists and is
    /// not the lab's.
    DumpFolder(const std::filesystem::path& folder, const std::vector<std::string>& files);

    /// Writes one of the files. A dump is complete or absent: if the disk rejects a file, all files of the dump are
    /// removed. Throws Error(environment).
    void write(const std::string& file, ByteSpan content);

private:
    std::filesystem::path folder_;
    std::vector<std::string> files_;
    Descriptor list_;
};

/// The record of the cell in its dump, written by the code that has the whole record.
inline constexpr const char* timing_file = "timing.json";

struct DumpRequest {
    std::filesystem::path folder;  ///< created if missing; the files of an earlier dump are removed
    std::string entry;             ///< kernel name
    std::string source, options, build_log;
    std::span<const std::byte> binary;  ///< for this device; empty if the driver has none
    const model::Device& device;
    LaunchSize launch{};
    std::chrono::milliseconds tool_budget = std::chrono::seconds(30);  ///< limit of all disassemblers together
    std::string ran{};                                                 ///< as DisassembleOptions::ran
    std::optional<model::Hot> hot{};                                   ///< for isa.txt and stats.json
};

/// The part of a binary's code that this launch ran, if the binary has several parts; otherwise empty. Two requests
/// with equal binary, entry, log and local size may still differ in it.
std::string code_that_ran(const DumpRequest& request);

/// Analyses the binary and the build log. Writes nothing.
Analysis read_code(const DumpRequest& request);

/// Writes source.cl, options.txt, build.log, the binary with the file name of its kind, isa.txt and stats.json. isa.txt
/// has the disassembly, or a line that says which tool would make it and how to get the tool. The folder stays locked
/// as long as the returned object exists, so that timing_file can be added. Throws Error(environment) if the folder
/// cannot be written, and then leaves no dump there.
DumpFolder write_sidecars(const DumpRequest& request, const Analysis& analysis);

/// Adds one file to a complete dump, and its name to the list. Throws Error(environment).
void add_to_dump(const std::filesystem::path& folder, const std::string& file, ByteSpan content);

/// The texts of a dump, read from its files; empty if a file is missing.
struct DumpTexts {
    std::string isa, summary;
    std::string counted_isa, function;  ///< of the counted listing closest to the hardware: "sass", "vadd"
};
DumpTexts read_dump(const std::filesystem::path& folder);

}  // namespace cllab::inspect
