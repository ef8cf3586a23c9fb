// What a scalar argument most likely is, by its name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cllab::kernelfile {

struct ScalarName {
    enum class Meaning {
        size,    ///< of the data, or of the launch
        stride,  ///< elements from one row to the next
        group,   ///< items of a work-group
        value,   ///< one that does not grow with the data: an offset, a radius, a number of iterations
        unknown,
    };
    Meaning meaning = Meaning::unknown;
    int dimension = -1;      ///< of a size: 0 width, 1 height, 2 depth; -1: any
    std::int64_t value = 1;  ///< where it is no size
};

ScalarName scalar_name(const std::string& name);

/// "maxIter_2" as max, iter: where letters change their case, and without digits.
std::vector<std::string> words_of_name(const std::string& name);

}  // namespace cllab::kernelfile
