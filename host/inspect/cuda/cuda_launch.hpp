// One kernel's launch through the CUDA driver: written into a folder here, carried out by cuda_launch.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "model/experiment.hpp"

/// Carries out the launch in `folder` (cuda_launch.cpp says what lies there), then `timed` more, each timed by two
/// events. Their times as JSON; throws std::runtime_error with one sentence.
std::string cuda_launch(const std::string& folder, unsigned timed);

namespace cllab::inspect {

/// The text of cuda_launch.cpp, for those who want the program alone.
std::string cuda_launch_source();

/// What the CUDA driver cannot do of this operation, in words that follow "because"; nothing: it can.
std::optional<std::string> not_for_cuda(const model::Setup& setup);

/// The kernel that the one launch names, when it is not the variant's own.
std::optional<std::string> entry_of(const model::Setup& setup);

/// Writes PTX, arguments and launch.txt: inputs as they are, outputs with the poison of `seed`. `gpu`:
/// Device::identity. Throws Error(environment) when the folder has no room, Unsupported when the PTX needs what only
/// OpenCL's driver sets.
void write_cuda_launch(const std::filesystem::path& folder, const model::Setup& setup, const std::string& entry,
                       const std::string& ptx, const std::string& gpu, std::uint64_t seed);

/// What is wrong with the buffers that cuda_launch() left in the folder; nothing when they are right.
std::optional<std::string> check_cuda_launch(const std::filesystem::path& folder, const model::Setup& setup,
                                             std::uint64_t seed);

}  // namespace cllab::inspect
