// What an experienced person would write for a kernel of which nobody has said anything: sizes, data and values, by the
// names of its arguments and by what small launches in a simulator touch.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernelfile/description.hpp"
#include "kernelfile/guess/small_launch.hpp"
#include "kernelfile/guess/text_facts.hpp"
#include "model/kernel_signature.hpp"

namespace cllab::kernelfile {

/// What is said of a kernel already, which a guess never changes.
struct SaidOfKernel {
    model::KernelSignature signature;
    std::map<std::string, ArgumentSpec> given;
    std::vector<std::string> global, local;  ///< empty: not given
    bool offset = false;
    std::vector<std::pair<std::string, std::int64_t>> axes;  ///< those of whole numbers, with their first values
};

/// In the words of a block.
struct GuessedKernel {
    std::vector<std::pair<std::string, std::int64_t>> axes;
    std::vector<std::pair<std::string, std::string>> arguments;
    std::string global, local, offset;  ///< empty: given, or left to the driver
    std::string how;                    ///< "by Oclgrind at n=16, 32, 48", "by the text, …"
    std::vector<std::string> open;      ///< arguments of which nothing can be guessed
};

/// `launch`: empty where there is no simulator.
GuessedKernel guess_kernel(const SaidOfKernel& said, const TextFacts& text, const TryLaunch& launch);

}  // namespace cllab::kernelfile
