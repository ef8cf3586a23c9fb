// Reads and writes whole files. Reads only files that end, and remembers them, so that no output overwrites an input.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cllab {

/// Why a file cannot be read, as the end of a sentence; call this before opening it. Empty if it can be read; then
/// files_read() includes it. Rejects a named pipe, which would block until someone writes, and a device, which may have
/// no end. Accepts a pipe that is already open (standard input, <(command)).
std::string reading_fault(const std::filesystem::path& path);

/// Every file for which reading_fault() was empty.
std::vector<std::filesystem::path> files_read();

/// Writes all bytes in binary mode; throws Error(environment) with the system's reason.
void write_file(const std::filesystem::path& path, std::span<const std::byte> content);

/// The whole file; nullopt if it cannot be read.
std::optional<std::string> read_file(const std::filesystem::path& path);

// The process's own folder for temporary files. The next process removes the folder of a killed process.

/// Returns the folder, which forked children share. The first call makes it below the system's temporary folder, and
/// removes folders of dead processes, whose lock nobody holds. Returns an empty path and sets errno if the folder
/// cannot be made.
std::filesystem::path own_folder();

/// Call it in the process that made the folder, after all children have ended. The end of the program also removes it.
void remove_own_folder();

}  // namespace cllab
