// Counters of a launch as a line of JSON.
#pragma once

#include <string>

#include "model/result.hpp"

namespace cllab::report {

/// {"record": "counters", id, point, device, opencl_seconds, cuda_seconds, "counters": {name: {value, unit}}}
std::string counters_json(const model::Counted& counted);

}  // namespace cllab::report
