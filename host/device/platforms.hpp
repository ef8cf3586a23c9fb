// Every device that the ICD loader shows, as plain facts beside its handle.
#pragma once

#include <vector>

#include "device/cl.hpp"
#include "model/device.hpp"

namespace cllab::device {

struct Found {
    cl::Platform platform;
    cl::Device device;
    model::Device facts;
};

/// All devices of all platforms, in clinfo's order. A platform or device that fails its queries is left out, with a
/// line in `troubles`. Throws Error(environment) with the way to get one when there is no device at all.
std::vector<Found> discover(std::vector<std::string>* troubles = nullptr);

}  // namespace cllab::device
