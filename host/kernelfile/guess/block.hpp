// The guesses of a file's kernels as the block that would say so.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernelfile/guess/guess.hpp"

namespace cllab::kernelfile {

using GuessedKernels = std::vector<std::pair<std::string, GuessedKernel>>;  ///< by kernel

/// Lines of a block; `alone`: the file has no other kernel, so that no line `kernel` is needed. `axes`: what other
/// files' guesses call their axes, which all share; those of this file are added. Where two kernels need one axis at
/// different sizes, the second one's is called by its kernel.
std::string block_of(GuessedKernels kernels, bool alone, std::map<std::string, std::int64_t>& axes);

}  // namespace cllab::kernelfile
