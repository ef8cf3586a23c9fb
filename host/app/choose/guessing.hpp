// Guesses of what a kernel file leaves out, made beside the process: the simulator that they come from may crash.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "app/choose/introspection.hpp"
#include "kernelfile/experiment.hpp"

namespace cllab::app {

/// The block of one file, made for the kernels that lack something.
struct GuessedBlock {
    std::string file;
    std::set<std::string> kernels{};  ///< that it is about
    std::string text{};               ///< its lines
    std::string how{};                ///< "by Oclgrind at n=16, 32", "by the text, …"
    /// Kernels of which something cannot be guessed, with a sentence that asks for it.
    std::vector<std::pair<std::string, std::string>> open{};

    std::string path() const;  ///< of the file in which a user may keep it
};

/// Describes the files by what is guessed for the kernels that lack something. `builds`: as a device is asked.
/// `compared`: by --vs; throws Error(usage) where kernels would not work on the same data.
std::vector<GuessedBlock> guess_what_lacks(kernelfile::KernelFiles& files, const std::vector<AskedBuild>& builds,
                                           const std::vector<kernelfile::Wanted>& wanted, bool compared);

}  // namespace cllab::app
