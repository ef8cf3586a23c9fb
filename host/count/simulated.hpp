// What the plugin counted, as model::Counts.
//
// The program forks a child that has Oclgrind as its only driver, with OCLGRIND_PLUGINS, OCLGRIND_QUICK and these set,
// CLLAB_COUNT_FILE just before the launch:
//   CLLAB_COUNT_FILE     where to: launch n is written to FILE.n, and again whenever a group is done
//   CLLAB_COUNT_WAVE     work-items of a wave
//   CLLAB_COUNT_SECONDS  seconds of the processor that the launch may take
//   CLLAB_COUNT_GROUPS   how many groups are simulated at most
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "model/counts.hpp"

namespace cllab::count {

inline constexpr unsigned widest_wave = 128;

/// One file of the plugin. Throws JsonRefused, or Error(result) for a text that is none of the plugin's.
model::Counts read_simulated(std::string_view json);

/// All launches that were counted, by their number; a file that cannot be read is left out.
std::vector<model::Counts> read_launches(const std::filesystem::path& file);

}  // namespace cllab::count
