// The terminal line that shows what a run is doing.
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

/// "[3 of 13 done] pitch_short8: sample, about 40 s left, on NVIDIA H200". The time left assumes that the remaining
/// cells take as long as those so far. It is shown if all cells together take more than ten seconds. Each of the
/// `begun` cells, which are being sampled, counts as half done.
std::string progress_line(std::size_t done, std::size_t begun, std::size_t cells, const std::string& id,
                          const std::string& device, const std::string& phase, double elapsed);

/// Prints to stderr if that is a terminal.
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
    std::set<std::pair<std::string, model::PointValues>> sampled_;  ///< being sampled, not done
    std::string last_id_;
    const Clock::time_point start_ = Clock::now();
    Clock::time_point last_{};
};

// The time that a command itself takes: --timings.

/// During its lifetime, collects the phases of this thread that belong to no cell.
class Timings {
public:
    Timings() = default;
    Timings(const Timings&) = delete;
    Timings& operator=(const Timings&) = delete;

    /// Prints to stderr: seconds per phase, and the share of the time since construction. `of_cells`: the phases of the
    /// cells. The rest is printed as the phase `other`.
    void print(const Phases& of_cells) const;

private:
    Clock::time_point start_ = Clock::now();
    Phases phases_{};
    ChargedTo account_{phases_};
};

Phases phases_of(const std::vector<model::Record>& records);

}  // namespace cllab::app
