// What the plugin hands to the program: one JSON file per launch, read by count/simulated.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "count/plugin/launch_count.hpp"

namespace cllab::count {

struct LaunchFacts {
    std::string kernel;
    std::uint64_t number = 1;  ///< of the launches since the count began
    std::uint64_t items = 0, groups = 0, group_items = 0;
    double seconds = 0;     ///< since the launch began
    bool finished = false;  ///< false: the simulation goes on
};

/// `unfinished`: of the group that is running, its whole waves.
void write(const std::filesystem::path& path, const LaunchFacts& facts, const LaunchCount& count,
           const std::vector<CountedGroup>& groups);

}  // namespace cllab::count
