// Where the threads of this process are, many times a second: sampling by instruction address.
//
// A profiler outside would do the same, but it may not be there, and it does not know when the kernel runs. The
// kernel's perf_event_open with the software clock needs no hardware counters, so it works in virtual machines, and no
// privilege beyond kernel.perf_event_paranoid <= 2. Where it is refused (a container's seccomp filter, a stricter
// setting), a timer of each thread's CPU time sends SIGPROF, at the pace of the system's tick.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "inspect/code/hot_code.hpp"

namespace cllab::run {

/// Calls `work`, which does a piece of what is to be seen, for `seconds` and then on, up to three times as long, until
/// a few hundred samples are taken. `piece`: seconds of one call, about. Threads that start meanwhile are not seen.
inspect::AddressSamples sample_addresses(const std::function<void()>& work, double piece, double seconds);

/// Executable memory that can be read, from the text of /proc/self/maps; neighbors of one file are one region.
std::vector<inspect::CodeRegion> executable_regions(std::string_view maps);

/// Those that hold one of the addresses, with a copy of their bytes: a driver may unload a kernel at any time. What is
/// mapped no more is left out.
std::vector<inspect::CodeRegion> copies_of_sampled(const std::vector<inspect::CodeRegion>& regions,
                                                   std::span<const std::uint64_t> addresses);

}  // namespace cllab::run
