#pragma once
/// The host's own clock, for what is waited for or accounted; a kernel's times come from device/timer.

#include <chrono>

namespace cllab {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace cllab
