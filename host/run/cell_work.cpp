// The work must be there: by the code where it can be counted, by the time elsewhere.
#include <chrono>

#include "inspect/work.hpp"
#include "run/cell_run.hpp"

namespace cllab::run {

using model::Status;

void CellRun::judge_code(const inspect::Analysis& analysis) {
    if (record_.status != Status::ok) return;  // what is wrong already needs no second reason
    const auto work = inspect::check_work(analysis, setup_.declared, setup_.slope.has_value());
    work_counted_ = work.counted;
    if (!work.collapsed.empty()) fail(Status::wrong_result, "collapsed: " + work.collapsed);
    if (!work.doubtful.empty())
        warn("collapsed-sass: " + work.doubtful + "; ptxas of this machine made it, the driver's own code may have more");
}

void CellRun::check_line() {
    // Counted work needs no second proof, a simulator's trip counts 1 and 2 have no middle.
    if (!setup_.slope || work_counted_ || interrupted_) return;
    const auto& slope = *setup_.slope;
    if (slope.high - slope.low < 2) return;
    const std::int32_t low = slope.low, high = slope.high - (slope.high - slope.low) % 2;
    std::vector<double> times[3];
    subject_->timed(per_sample_);  // the device has rested while the code was read
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(settings_.sampling_seconds);
    // Seven rounds have an interval of their own; three will do where a launch takes very long.
    for (unsigned round = 0; round < 7 && (round < 3 || std::chrono::steady_clock::now() < end); ++round) {
        for (const int k : {0, 1, 2}) {
            subject_->set_trips(low + (high - low) / 2 * k);
            times[k].push_back(subject_->timed(per_sample_));
        }
    }
    if (const auto wrong = not_linear(times[0], times[1], times[2], slope.may_be_free))
        warn("not-linear: " + *wrong + "; the work may not be in the code, and nothing here can count it");
}

}  // namespace cllab::run
