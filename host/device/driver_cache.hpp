// Drivers' own caches of compiled kernels: on disk, across processes, set by environment variables that are read when a driver loads.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/device.hpp"

namespace cllab::device {

/// For a process that has not called OpenCL yet, a child process too: NVIDIA's driver keeps what it compiles in a new folder that only this
/// process has. So a build has a log, which one that the cache answers lacks, and a context takes no longer than with a cache: without
/// any, 1.0 to 1.6 s more (H200, driver 580.159.04). Does nothing where the user has set CUDA_CACHE_DISABLE.
void use_own_cache();

/// Removes the folders of this process and of its children, when none of them runs.
void remove_own_caches();

/// What the environment says of them, by variable: they decide what a build costs.
std::map<std::string, std::string> cache_settings();

/// Environment settings, "NAME=value", with which the driver keeps what it compiles below `folder` and nowhere else; none where it has
/// no cache across processes, or none that is known.
std::vector<std::string> compile_cache_settings(const model::Device& device, const std::string& folder);

}  // namespace cllab::device
