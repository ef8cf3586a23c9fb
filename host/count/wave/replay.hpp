// What a wave executes, from what its lanes executed one by one.
//
// A simulator runs one work-item after the other; a wave runs them together. Lanes that went different ways meet again:
// of those that wait, the ones furthest back in the order of the code go on, and those in a called function before
// those behind the call. That is how the hardware of structured code behaves, also for loops in loops whose trip counts
// differ from lane to lane, where the k-th execution of an instruction by one lane need not be beside the k-th of
// another.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "count/wave/requests.hpp"

namespace cllab::count {

/// Instructions that are executed one after the other: a block, or a piece of one between calls and barriers. Lower
/// numbers come first in the order of the code.
struct Segment {
    std::uint32_t weight = 0;             ///< instructions of one lane that a device would issue
    bool calls = false, returns = false;  ///< at its end
    bool ends_at_barrier = false;
    std::vector<std::uint32_t> memory{};        ///< instructions that may access memory, in their order
    std::vector<std::uint32_t> instructions{};  ///< all of them
};

struct Lane {
    std::vector<std::uint32_t> trace;  ///< segments in the order of their execution
    std::vector<Access> accesses;      ///< likewise
    unsigned depth = 0;                ///< calls that it is in at the end of what was replayed
    std::size_t at = 0, access = 0;    ///< replayed so far
};

/// How often a group's lanes and waves executed each segment.
struct SegmentCounts {
    std::vector<std::uint64_t> by_lanes, by_waves;
};

/// Replays and empties what the lanes of one wave hold.
void replay(std::span<Lane> lanes, std::span<const Segment> segments, SegmentCounts& counts, Requests& requests);

}  // namespace cllab::count
