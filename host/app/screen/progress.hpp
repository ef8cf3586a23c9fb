// The line on a terminal that says what a run is doing.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/screen/streams.hpp"
#include "core/clock.hpp"
#include "core/phases.hpp"
#include "model/result.hpp"

namespace cllab::app {

/// "[3 of 13 done] pitch_short8: sample, about 40 s left, on NVIDIA H200". The time left is that of the cells so far
/// for the others, where all of them take more than ten seconds; one that is sampled, of `begun`, is half of one.
std::string progress_line(std::size_t done, std::size_t begun, std::size_t cells, const std::string& id,
                          const std::string& device, const std::string& phase, double elapsed);

/// On stderr when that is a terminal, else nothing.
class Progress {
public:
    explicit Progress(std::size_t cells) : cells_(cells) {}
    ~Progress() { say_doing(""); }
    void phase(const model::Record& record, const char* phase);
    void finished(const model::Record& record) {
        ++done_;
        sampled_.erase({record.id, record.point});
    }

private:
    std::size_t cells_, done_ = 0;
    std::set<std::pair<std::string, model::PointValues>> sampled_;  ///< and not done
    std::string last_id_;
    const Clock::time_point start_ = Clock::now();
    Clock::time_point last_{};
};

// Where a command's own time goes: --timings.

/// While it lives, it keeps the phases of this thread that belong to no cell.
class Timings {
public:
    Timings() = default;
    Timings(const Timings&) = delete;
    Timings& operator=(const Timings&) = delete;

    /// On stderr, by phase: seconds, and the share of the time since the beginning. `of_cells`: the phases of the
    /// cells. Time in no phase is the phase `other`.
    void print(const Phases& of_cells) const;

private:
    Clock::time_point start_ = Clock::now();
    Phases phases_{};
    ChargedTo account_{phases_};
};

Phases phases_of(const std::vector<model::Record>& records);

}  // namespace cllab::app
