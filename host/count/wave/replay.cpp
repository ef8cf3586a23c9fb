#include "count/wave/replay.hpp"

#include <utility>

namespace cllab::count {
namespace {

using Lanes = std::vector<Lane*>;

/// The lanes that go on together, and the segment that they execute; no lanes at the end.
std::uint32_t choose(std::span<Lane> lanes, Lanes& together) {
    together.clear();
    std::pair<unsigned, std::uint32_t> best{};
    for (auto& lane : lanes) {
        if (lane.at == lane.trace.size()) continue;
        const std::pair here{lane.depth, lane.trace[lane.at]};
        const bool ahead =
            together.empty() || here.first > best.first || (here.first == best.first && here.second < best.second);
        if (ahead) {
            together.clear();
            best = here;
        }
        if (here == best) together.push_back(&lane);
    }
    return best.second;
}

/// The first accesses of all lanes are one request, then the second ones.
void ask(const Lanes& together, std::uint32_t instruction, std::vector<Access>& accesses, Requests& requests) {
    for (bool first = true;; first = false) {
        accesses.clear();
        for (auto* lane : together) {
            if (lane->access == lane->accesses.size()) continue;
            const auto& next = lane->accesses[lane->access];
            if (next.instruction != instruction || next.first != first) continue;
            accesses.push_back(next);
            ++lane->access;
        }
        if (accesses.empty()) return;
        requests.request(accesses);
    }
}

}  // namespace

void replay(std::span<Lane> lanes, std::span<const Segment> segments, SegmentCounts& counts, Requests& requests) {
    counts.by_lanes.resize(segments.size());
    counts.by_waves.resize(segments.size());
    for (auto& lane : lanes) lane.at = lane.access = 0;
    Lanes together;
    std::vector<Access> accesses;
    for (auto number = choose(lanes, together); !together.empty(); number = choose(lanes, together)) {
        const auto& segment = segments[number];
        counts.by_lanes[number] += together.size();
        ++counts.by_waves[number];
        for (const auto instruction : segment.memory) ask(together, instruction, accesses, requests);
        for (auto* lane : together) {
            ++lane->at;
            if (segment.calls) ++lane->depth;
            if (segment.returns && lane->depth > 0) --lane->depth;
        }
    }
    for (auto& lane : lanes) {
        lane.trace.clear();
        lane.accesses.clear();
    }
}

}  // namespace cllab::count
