// Which files are read: those that come to an end.
#pragma once

#include <filesystem>
#include <string>

namespace cllab {

/// Why the file cannot be read, as the end of a sentence; empty when it can. A named pipe would be waited for until
/// somebody writes, and a device may have no end. A pipe that is open already (standard input, <(command)) is read.
std::string reading_fault(const std::filesystem::path& path);

}  // namespace cllab
