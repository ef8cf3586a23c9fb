// The simulator Oclgrind: where it and the project's plugin for it are, and how a process gets it as its only driver.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "app/processes/local_devices.hpp"

namespace cllab::app {

struct Oclgrind {
    std::filesystem::path library;
    std::filesystem::path plugin;  ///< counts, and adds functions that Oclgrind lacks; empty: there is none
};

/// Its OpenCL library is as an ICD file says, else where Debian has it. The plugin is the file that CLLAB_COUNT_PLUGIN
/// names, else it lies beside this program, as it is built, or in ../lib/cllab, as it is installed. `for_what`:
/// "--check oclgrind". Throws Error(environment) where Oclgrind is missing, or a plugin that is named or needed.
Oclgrind find_oclgrind(const std::string& for_what, bool needs_plugin = true);

/// For a process that has called no OpenCL yet, and its children: Oclgrind with its plugin is the only driver.
/// `settings`: Oclgrind's and the plugin's environment variables beside the usual limits.
void use_oclgrind(const Oclgrind& simulator, const std::map<std::string, std::string>& settings = {});

constexpr std::uint64_t most_simulator_bytes = 6ull << 30;  ///< of address space: buffers, and what it keeps of them

/// In a child process that uses it: its device. From then on the process has at most that memory.
device::Session& open_oclgrind(LocalDevices& devices);

}  // namespace cllab::app
