// `cllab` alone.
#pragma once

namespace cllab::app {

/// What it is, three calls, and the devices that are here. The exit status: 0, with or without a device.
int print_start();

}  // namespace cllab::app
