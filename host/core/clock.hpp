#pragma once
/// The host's clock, for waiting and accounting. The times of kernels come from device/timer.

#include <chrono>

namespace cllab {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace cllab
