// What a profiler counted of one launch, beside the two times that say whether it was the launch that was timed.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/result.hpp"

namespace cllab::model {

struct Counted {
    std::string id;
    std::vector<std::pair<std::string, std::string>> point;
    DeviceInfo device;
    double opencl_seconds = 0;      ///< median of the cell by the lab's own method
    double cuda_seconds = 0;        ///< median of the launches through the CUDA driver, without the profiler
    std::vector<Counter> counters;  ///< empty: no profiler
};

}  // namespace cllab::model
