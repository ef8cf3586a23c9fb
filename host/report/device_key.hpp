// What makes two records records of one device, when they come from many runs and machines.
#pragma once

#include <string>
#include <vector>

#include "model/result.hpp"

namespace cllab::report {

/// Equal for records of the same device under the same driver. A GPU's UUID names it wherever it is; a PCI address does so
/// on its host only; a device without either is its host's device of that name and place in its platform (the D of P:D,
/// because P depends on which other drivers are installed).
std::string device_key(const model::Record& record);

/// True when the records were made on more than one host.
bool several_hosts(const std::vector<model::Record>& records);

/// " (0:0), NVIDIA CUDA, driver 570.86.15", and " on node1" when a host is given: what follows a device's name in a heading.
std::string device_details(const model::DeviceInfo& device, const std::string& host);

}  // namespace cllab::report
