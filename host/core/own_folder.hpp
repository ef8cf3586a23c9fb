// The process's own folder for temporary files. The next process removes the folder of a killed one.
#pragma once

#include <filesystem>

namespace cllab {

/// Makes the folder at the first call, below the system's temporary folder; forked children share it. Also removes
/// folders of dead processes, which hold no lock in them. Returns an empty path, with errno, when the folder cannot be
/// made.
std::filesystem::path own_folder();

/// For the process that made it, when none of its children runs; the end of the program does so too.
void remove_own_folder();

}  // namespace cllab
