// What the curves of family fma say of a device.
#pragma once

#include <cstddef>
#include <vector>

#include "model/experiment.hpp"

namespace cllab::model::lib {

/// Work-groups for a load in percent of the compute units that the driver reports, at least one.
std::size_t groups_for(double load_percent, const Device& device);

/// Latencies, in cycles where the clock is known, peak rates, loop and fetch cost, compute units: each a figure or
/// withheld with the reason.
std::vector<Finding> fma_findings(const std::vector<Curve>& curves, const Device& device);

}  // namespace cllab::model::lib
