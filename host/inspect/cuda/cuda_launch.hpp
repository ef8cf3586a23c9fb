// One kernel's launch through the CUDA driver, carried out in the process that calls this. inspect/cuda/replay.hpp has
// what writes it and starts that process.
#pragma once

#include <string>

/// Carries out the launch in `folder` (cuda_launch.cpp says what lies there), then `timed` more, each timed by two
/// events. Their times as JSON; throws std::runtime_error with one sentence.
std::string cuda_launch(const std::string& folder, unsigned timed);
