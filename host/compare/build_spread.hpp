// Is it the kernel, or the build? Times of one text that was built several times, each build run by several processes.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace cllab::compare {

/// One process that ran one build.
struct BuiltRun {
    std::string code;             ///< hash of the machine code
    std::vector<double> samples;  ///< seconds
};

struct CodeTimes {
    std::string code;
    unsigned runs = 0;  ///< processes
    double median = 0;  ///< seconds: of the processes' medians
};

/// Standard deviations of logs: 0.01 is about 1 %. Negative: cannot be told from so few.
struct SpreadSplit {
    double between_codes = -1;         ///< of the codes' medians
    double between_arrangements = -1;  ///< of processes of one code
    double within = -1;                ///< of the samples of one process, by their median absolute deviation
};

/// The codes, most frequent first.
std::vector<CodeTimes> codes_of(std::span<const BuiltRun> runs);

SpreadSplit split(std::span<const BuiltRun> runs);

}  // namespace cllab::compare
