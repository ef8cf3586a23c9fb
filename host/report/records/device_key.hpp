// How a device is named where records of many runs and machines stand together; model::device_key tells devices apart.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/result.hpp"

namespace cllab::report {

/// True when the records were made on more than one host.
bool several_hosts(const model::Rows& records);
inline bool several_hosts(const std::vector<model::Record>& records) { return several_hosts(model::rows_of(records)); }

/// " (0:0), NVIDIA CUDA, driver 570.86.15", and " on node1" when a host is given: what follows a device's name in a
/// heading.
std::string device_details(const model::DeviceInfo& device, const std::string& host);

/// What tells devices apart by their keys: name and details where the records are of several devices, else nothing.
std::map<std::string, std::string> labels_of_several_devices(const std::vector<model::Record>& records);

}  // namespace cllab::report
