// Files read and written whole. Read are those that come to an end; what is read is known, so that no output replaces
// it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cllab {

/// Asked before a file is opened. Why it cannot be read, as the end of a sentence; empty when it can, and then it is
/// one of files_read(). A named pipe would be waited for until somebody writes, and a device may have no end. A pipe
/// that is open already (standard input, <(command)) is read.
std::string reading_fault(const std::filesystem::path& path);

/// Every file that this process was about to read.
std::vector<std::filesystem::path> files_read();

/// Writes all bytes in binary mode; throws Error(environment) with the system's reason.
void write_file(const std::filesystem::path& path, std::span<const std::byte> content);

/// The whole file, or nothing when it cannot be read.
std::optional<std::string> read_file(const std::filesystem::path& path);

// The process's own folder for temporary files. The next process removes the folder of a killed one.

/// Makes the folder at the first call, below the system's temporary folder; forked children share it. Also removes
/// folders of dead processes, which hold no lock in them. Returns an empty path, with errno, when the folder cannot be
/// made.
std::filesystem::path own_folder();

/// For the process that made it, when none of its children runs; the end of the program does so too.
void remove_own_folder();

}  // namespace cllab
