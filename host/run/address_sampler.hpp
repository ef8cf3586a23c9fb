// Samples the instruction addresses of this process's threads many times a second.
//
// An external profiler may not be installed, and it does not know when the kernel runs. perf_event_open with the
// software clock needs no hardware counters, so it works in virtual machines. It needs no privilege beyond
// kernel.perf_event_paranoid <= 2. A container's seccomp filter or a stricter setting may refuse it. Then a timer of
// each thread's CPU time sends SIGPROF, at the pace of the system's tick.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "inspect/code/hot_code.hpp"

namespace cllab::run {

/// Calls `work` repeatedly for `seconds`, and up to three times as long until there are a few hundred samples. `work`
/// does a piece of the work to sample. `piece`: approximate seconds of one call. Threads that start later are not
/// sampled.
inspect::AddressSamples sample_addresses(const std::function<void()>& work, double piece, double seconds);

/// The readable executable memory in the text of /proc/self/maps. Adjacent regions of one file become one region.
std::vector<inspect::CodeRegion> executable_regions(std::string_view maps);

/// The regions that contain one of the addresses, with a copy of their bytes, because a driver may unload a kernel at
/// any time. Skips regions that are no longer mapped.
std::vector<inspect::CodeRegion> copies_of_sampled(const std::vector<inspect::CodeRegion>& regions,
                                                   std::span<const std::uint64_t> addresses);

}  // namespace cllab::run
