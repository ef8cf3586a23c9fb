// Disassemblers are external programs: found at run time, run without a shell, stopped at a time limit.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/reading.hpp"
#include "inspect/binary/bounded_bytes.hpp"

namespace cllab::inspect {

/// The first of `names` that is an executable file on PATH or in the CUDA toolkit's folder. Installers do not add that
/// folder, $CUDA_HOME/bin or /usr/local/cuda/bin, to PATH.
std::optional<std::filesystem::path> find_tool(const std::vector<std::string>& names);

/// The newest versioned LLVM tool first ("llvm-objdump-29" … "-13"), then the plain name. A newer tool reads older
/// files and more processors; an older tool fails on newer files.
std::vector<std::string> llvm_names(const std::string& tool);

struct ToolResult {
    int status = -1;  ///< exit status; 128 + signal if killed by one; -1 if it could not be started: `err` says why
    bool timed_out = false, endless = false;  ///< it was killed for this; endless: a stream had more than 64 MiB
    std::string out, err;
    bool ok() const { return status == 0 && !timed_out && !endless; }
    /// "exited with status 1: first line of its errors", for a sentence.
    std::string failure() const;
};

/// Descriptors for the standard streams of a started program.
struct Streams {
    int in = 0, out = 1, err = 2;
};

/// Starts a program from PATH without a shell. A tool has its own process group, and ends with this process. If it
/// cannot be started, returns 0 and sets errno.
pid_t start_program(const std::vector<std::string>& command, const Streams& streams, bool is_tool);

/// Runs `program` with `arguments` (no shell, standard input empty) and waits at most `limit`, or less under a
/// ToolBudget. Then kills what is left of its process group, including children of a program that ended.
ToolResult run_tool(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                    std::chrono::milliseconds limit = std::chrono::seconds(20));

/// While one exists, the tools that its thread runs share `budget`. Each tool gets at most half of what is left, so a
/// tool that hangs leaves time for the next.
class ToolBudget {
public:
    explicit ToolBudget(std::chrono::milliseconds budget);
    ~ToolBudget();
    ToolBudget(const ToolBudget&) = delete;
    ToolBudget& operator=(const ToolBudget&) = delete;
};

/// Empty if the system's folder for temporary files can be written, otherwise a sentence that says what is wrong.
std::string temporary_folder_fault();

/// A separate folder within own_folder(), removed at the end of the scope.
class TempFolder {
public:
    TempFolder();  ///< throws Error(environment) if it cannot be created
    ~TempFolder();
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    const std::filesystem::path& path() const { return path_; }
    /// Writes a file into it and returns its path; throws Error(environment).
    std::filesystem::path write(const std::string& name, ByteSpan content) const;

private:
    std::filesystem::path path_;
};

}  // namespace cllab::inspect
