// What of this machine disturbs a timing, as far as it can be read: settings, neighbors, the way memory is given out.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cllab::run {

struct Condition {
    std::string name, value;  ///< "governor", "powersave"
    bool disturbs = false;    ///< as it is now
    std::string remedy;       ///< what changes it, and who may; empty: nothing does
};

/// Reads /proc and /sys below `root`; what is not there is left out. Nothing is changed.
std::vector<Condition> host_conditions(const std::filesystem::path& root = "/");

/// The same of one NVIDIA GPU from a line of
/// `nvidia-smi --query-gpu=clocks.sm,clocks.max.sm,clocks_throttle_reasons.active,persistence_mode,mig.mode.current
/// --format=csv,noheader,nounits`.
std::vector<Condition> nvidia_conditions(const std::string& line);

}  // namespace cllab::run
