#include "count/wave/replay.hpp"

#include <utility>

namespace cllab::count {
namespace {

class Wave {
public:
    Wave(std::span<Lane> lanes, std::span<const Segment> segments, SegmentCounts& counts, Requests& requests)
        : lanes_(lanes), segments_(segments), counts_(counts), requests_(requests) {
        for (auto& lane : lanes) lane.at = lane.access = 0;
    }

    void run() {
        while (choose()) step();
        for (auto& lane : lanes_) {
            lane.trace.clear();
            lane.accesses.clear();
        }
    }

private:
    /// The lanes that go on together; false at the end.
    bool choose() {
        together_.clear();
        std::pair<unsigned, std::uint32_t> best{};
        for (auto& lane : lanes_) {
            if (lane.at == lane.trace.size()) continue;
            const std::pair here{lane.depth, lane.trace[lane.at]};
            const bool ahead =
                together_.empty() || here.first > best.first || (here.first == best.first && here.second < best.second);
            if (ahead) {
                together_.clear();
                best = here;
            }
            if (here == best) together_.push_back(&lane);
        }
        segment_ = best.second;
        return !together_.empty();
    }

    void step() {
        const auto& segment = segments_[segment_];
        counts_.by_lanes[segment_] += together_.size();
        ++counts_.by_waves[segment_];
        for (const auto instruction : segment.memory) ask(instruction);
        for (auto* lane : together_) {
            ++lane->at;
            if (segment.calls) ++lane->depth;
            if (segment.returns && lane->depth > 0) --lane->depth;
        }
    }

    /// The first accesses of all lanes are one request, then the second ones.
    void ask(std::uint32_t instruction) {
        for (bool first = true;; first = false) {
            accesses_.clear();
            for (auto* lane : together_) {
                if (lane->access == lane->accesses.size()) continue;
                const auto& next = lane->accesses[lane->access];
                if (next.instruction != instruction || next.first != first) continue;
                accesses_.push_back(next);
                ++lane->access;
            }
            if (accesses_.empty()) return;
            requests_.request(accesses_);
        }
    }

    std::span<Lane> lanes_;
    std::span<const Segment> segments_;
    SegmentCounts& counts_;
    Requests& requests_;
    std::vector<Lane*> together_;
    std::vector<Access> accesses_;
    std::uint32_t segment_ = 0;
};

}  // namespace

void replay(std::span<Lane> lanes, std::span<const Segment> segments, SegmentCounts& counts, Requests& requests) {
    counts.by_lanes.resize(segments.size());
    counts.by_waves.resize(segments.size());
    Wave(lanes, segments, counts, requests).run();
}

}  // namespace cllab::count
