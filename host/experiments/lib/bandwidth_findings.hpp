// What the curves of bandwidth say: the rates of its streams, of the levels in between and of places in memory.
#pragma once

#include <string>
#include <vector>

#include "model/experiment.hpp"

namespace cllab::model::lib {

/// The variants that move each byte of their buffers once.
inline const std::vector<std::string> bandwidth_streams{"copy", "batch", "read", "write", "triad"};

std::vector<Finding> bandwidth_findings(const std::vector<Curve>& all, const Device& device);

}  // namespace cllab::model::lib
