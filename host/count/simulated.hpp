// What the plugin counted, as model::Counts.
//
// The program forks a child that has Oclgrind as its only driver, with OCLGRIND_PLUGINS, OCLGRIND_QUICK and these set,
// CLLAB_COUNT_FILE just before the launch:
//   CLLAB_COUNT_FILE      where to: launch n is written to FILE.n, and again as groups are done
//   CLLAB_COUNT_WAVE      work-items of a wave
//   CLLAB_COUNT_SECONDS   seconds of the processor that all launches may take
//   CLLAB_COUNT_LAUNCHES  how many there are
//   CLLAB_COUNT_GROUPS    how many groups of a launch are simulated at most
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "model/counts.hpp"

namespace cllab::count {

inline constexpr unsigned widest_wave = 128;
inline constexpr unsigned most_groups = 2003;  ///< of a launch that are simulated

/// One file of the plugin. Throws JsonRefused, or Error(result) for a text that is none of the plugin's, or of a kernel
/// that the simulator computes wrongly.
model::Counts read_simulated(std::string_view json);

/// The counts of `launches` launches, by number. A launch that executes the same as an earlier one is counted with it.
std::vector<model::Counts> read_launches(const std::filesystem::path& file, std::size_t launches);

}  // namespace cllab::count
