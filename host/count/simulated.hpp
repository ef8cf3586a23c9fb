// Reads the plugin's files into model::Counts.
//
// The program forks a child whose only OpenCL driver is Oclgrind. It sets OCLGRIND_PLUGINS, OCLGRIND_QUICK and the
// variables below, CLLAB_COUNT_FILE just before the launch:
//   CLLAB_COUNT_FILE      output: launch n is written to FILE.n, and written again as groups finish
//   CLLAB_COUNT_WAVE      work-items per wave
//   CLLAB_COUNT_SECONDS   CPU seconds that all launches together may take
//   CLLAB_COUNT_LAUNCHES  number of launches
//   CLLAB_COUNT_GROUPS    maximum number of groups simulated per launch
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "model/counts.hpp"

namespace cllab::count {

inline constexpr unsigned widest_wave = 128;
inline constexpr unsigned most_groups = 2003;  ///< simulated per launch

/// Reads one file of the plugin. Throws JsonRefused. Throws Error(result) if the text is not from the plugin, or if the
/// simulator computes the kernel wrongly.
model::Counts read_simulated(std::string_view json);

/// The counts of launches 1 to `launches`, in order. A launch that repeats an earlier one adds to that one's
/// `launches`. Launches without a file are skipped.
std::vector<model::Counts> read_launches(const std::filesystem::path& file, std::size_t launches);

}  // namespace cllab::count
