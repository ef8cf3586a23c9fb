// Where Oclgrind and the project's plugin for it are.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace cllab::count {

/// Oclgrind's OpenCL library: as an ICD file says, else where Debian has it. `for_what`: "--check oclgrind". Throws
/// Error(environment).
std::filesystem::path oclgrind_library(const std::string& for_what);

/// The plugin: CLLAB_COUNT_PLUGIN where that is set, else beside the program, as it is built, or in ../lib/cllab, as it
/// is installed. Throws Error(environment) where that variable names none.
std::optional<std::filesystem::path> find_count_plugin(const std::filesystem::path& program);

/// Throws Error(environment) with the packages that it needs, too.
std::filesystem::path count_plugin(const std::filesystem::path& program);

}  // namespace cllab::count
