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
    std::uint64_t items = 0, groups = 0, group_items = 0;
    double seconds = 0;  ///< of the processor, since the launch began
};

/// Replaces the file. Where it cannot be written nothing happens.
void write(const std::filesystem::path& path, const LaunchFacts& facts, const LaunchCount& count,
           const std::vector<CountedGroup>& groups);

}  // namespace cllab::count
