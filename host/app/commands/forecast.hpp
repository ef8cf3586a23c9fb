// `cllab why FILE --on PROFILE.json`: the least time on a device that need not be here.
#pragma once

#include "app/commandline/options.hpp"

namespace cllab::app {

/// Counts what the kernels of the files execute, and bounds it by the profile. Returns the exit status; throws Error.
int forecast_files(const WhyOptions& asked);

}  // namespace cllab::app
