// The folder of this process for what is temporary. What a process that was killed leaves, the next one removes.
#pragma once

#include <filesystem>

namespace cllab {

/// Made at the first call, below the system's folder for temporary files; the forked children of whoever made it have
/// it too. The folders of processes that are dead are removed then: no process holds the lock in them, which the system
/// takes away with the last one. Empty, with errno, where it cannot be made.
std::filesystem::path own_folder();

/// For the process that made it, when none of its children runs; the end of the program does so too.
void remove_own_folder();

}  // namespace cllab
