// The commands. A new one is a file below commands/ and a row in commands.cpp.
#pragma once

#include <string>
#include <vector>

#include "app/commandline/command.hpp"

namespace cllab::app {

/// `cllab complete -- WORDS`, for the completions of shells: what the last word may become. No command of its own,
/// because it takes words that are no options.
int complete(std::vector<std::string> words);

}  // namespace cllab::app
