// A kernel launched once more through the CUDA driver, because NVIDIA's profiler sees no OpenCL: the PTX of the program
// binary with the cell's own arguments, in a child process under Nsight Compute.
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

/// Carries out the launch in `folder` (cuda_launch.cpp says what lies there) in this process, then `timed` more, each
/// timed by two events. Their times as JSON; throws std::runtime_error with one sentence.
std::string cuda_launch(const std::string& folder, unsigned timed);

namespace cllab::inspect {

/// What the CUDA driver cannot do of this operation, in words that follow "because"; nothing: it can.
std::optional<std::string> not_for_cuda(const model::Setup& setup);

/// Writes PTX, arguments and launch.txt: inputs as they are, outputs with the poison of `seed`. `gpu`:
/// Device::identity. Throws Error(environment) when the folder has no room, Unsupported when the PTX needs what only
/// OpenCL's driver sets.
void write_cuda_launch(const std::filesystem::path& folder, const model::Setup& setup, const std::string& entry,
                       const std::string& ptx, const std::string& gpu, std::uint64_t seed);

/// What is wrong with the buffers that cuda_launch() left in the folder; nothing when they are right.
std::optional<std::string> check_cuda_launch(const std::filesystem::path& folder, const model::Setup& setup,
                                             std::uint64_t seed);

struct Replay {
    model::Setup setup;
    std::string entry, ptx;
};

/// Of a cell that ran, and whose dump is still there. Throws Unsupported, in words that follow "because", where the
/// CUDA driver cannot launch it.
Replay replay_of(const model::Cell& cell, const model::Device& device, const model::Record& record, std::uint64_t seed);

/// The launch in `folder`, and `timed` more, by a child process of its own.
ToolResult run_launch(const std::filesystem::path& folder, unsigned timed, std::chrono::milliseconds limit);

/// `options` of ncu for that launch, and the launch.
ToolResult run_ncu(const std::filesystem::path& ncu, const Replay& replay, const std::filesystem::path& folder,
                   std::vector<std::string> options, std::chrono::milliseconds limit);

/// What was counted in one profile of the launch in `folder`.
struct Profiled {
    std::vector<model::Counter> counters;  ///< nothing where only executions were asked for
    std::optional<ExecutedCode> executed;  ///< how often each instruction ran; nothing where ncu does not say
    std::string trouble;                   ///< why nothing was counted; empty otherwise
};
enum class Count { executions, everything };
Profiled profile_replay(const std::filesystem::path& ncu, const Replay& replay, const std::filesystem::path& folder,
                        Count what, std::chrono::milliseconds limit);

}  // namespace cllab::inspect
