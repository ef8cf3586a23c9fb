// Launches a kernel again through the CUDA driver, because NVIDIA's profiler sees no OpenCL. The child process under
// Nsight Compute uses the PTX of the program binary and the cell's own arguments.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "inspect/code/hot_code.hpp"
#include "inspect/tools/tool.hpp"
#include "model/device.hpp"
#include "model/experiment.hpp"
#include "model/plan.hpp"
#include "model/result.hpp"

/// Runs the launch in `folder` (cuda_launch.cpp describes its files) in this process, then `timed` more launches, each
/// timed by two events. Returns their times as JSON; throws std::runtime_error with one sentence.
std::string cuda_launch(const std::string& folder, unsigned timed);

namespace cllab::inspect {

/// Why the CUDA driver cannot run this operation, in words after "because"; nullopt if it can.
std::optional<std::string> not_for_cuda(const model::Setup& setup);

/// Writes PTX, arguments and launch.txt: inputs unchanged, outputs with the poison of `seed`. `gpu`: Device::identity.
/// Throws Error(environment) if the folder has no room. Throws Unsupported if the PTX needs what only OpenCL's driver
/// sets.
void write_cuda_launch(const std::filesystem::path& folder, const model::Setup& setup, const std::string& entry,
                       const std::string& ptx, const std::string& gpu, std::uint64_t seed);

/// What is wrong with the buffers that cuda_launch() left in the folder; nullopt if they are right.
std::optional<std::string> check_cuda_launch(const std::filesystem::path& folder, const model::Setup& setup,
                                             std::uint64_t seed);

struct Replay {
    model::Setup setup;
    std::string entry, ptx;
};

/// The replay of a cell that ran and whose dump still exists. Throws Unsupported, in words after "because", if the CUDA
/// driver cannot launch it.
Replay replay_of(const model::Cell& cell, const model::Device& device, const model::Record& record, std::uint64_t seed);

/// Runs the launch in `folder`, and `timed` more, in a child process.
ToolResult run_launch(const std::filesystem::path& folder, unsigned timed, std::chrono::milliseconds limit);

/// Runs ncu with `options` on that launch.
ToolResult run_ncu(const std::filesystem::path& ncu, const Replay& replay, const std::filesystem::path& folder,
                   std::vector<std::string> options, std::chrono::milliseconds limit);

/// Results of one profile of the launch in `folder`.
struct Profiled {
    std::vector<model::Counter> counters;  ///< empty if only executions were requested
    std::optional<ExecutedCode> executed;  ///< how often each instruction ran; nullopt if ncu does not report it
    std::string trouble;                   ///< why nothing was counted; empty otherwise
};
enum class Count { executions, everything };
Profiled profile_replay(const std::filesystem::path& ncu, const Replay& replay, const std::filesystem::path& folder,
                        Count what, std::chrono::milliseconds limit);

}  // namespace cllab::inspect
