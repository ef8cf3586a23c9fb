// What of this machine may disturb a timing, as far as it can be read: settings, neighbors, the way memory is given
// out.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace cllab::run {

/// "governor": "powersave". Reads /proc and /sys below `root`; what is not there is left out.
std::map<std::string, std::string> host_conditions(const std::filesystem::path& root = "/");

}  // namespace cllab::run
