// The OpenCL drivers that the loader finds, and which of them end or stop the process that loads them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cllab::app {

struct Driver {
    std::filesystem::path icd;  ///< the file that registers it
    std::string library;        ///< what it says
};

/// Those of OCL_ICD_VENDORS, a folder or a file, else of /etc/OpenCL/vendors.
std::vector<Driver> registered_drivers();

/// Loads the driver alone, in a child process: what happened to that, or "" when it lived.
std::string trouble_of(const Driver& driver, double seconds);

/// For a child process: from its first OpenCL call on it has these drivers only. `folder` is empty and outlives it.
void use_only(const std::vector<Driver>& drivers, const std::filesystem::path& folder);

}  // namespace cllab::app
