// The line on a terminal that says what a run is doing.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/screen/streams.hpp"
#include "core/clock.hpp"
#include "core/phases.hpp"
#include "model/result.hpp"

namespace cllab::app {

/// "[3/13] pitch_short8 on NVIDIA H200: sample, about 40 s left". The time left is that of the cells done so far for
/// the others; without one there is none.
std::string progress_line(std::size_t done, std::size_t cells, const std::string& id, const std::string& device,
                          const std::string& phase, double elapsed);

/// On stderr when that is a terminal, else nothing.
class Progress {
public:
    explicit Progress(std::size_t cells) : cells_(cells) {}
    ~Progress() { say_doing(""); }
    void phase(const model::Record& record, const char* phase);
    void finished() { ++done_; }

private:
    std::size_t cells_, done_ = 0;
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
