// The test of a named limiter: what it predicts of the same kernel with one axis changed, and what the measurement says
// to that.
//
// The time is that of the limiter and a rest that no bound explains. Where the changed cell has the limiter's bound
// too, its time must be that of its largest bound and no more than the same rest, or as much more of it as there is
// more work. Where the data moves to a faster level, a kernel that this level's rate had limited must get faster by the
// byte, and no faster than the new level allows. What would come out alike under another limiter is no test.
#pragma once

#include <memory>
#include <variant>

#include "explain/measure.hpp"

namespace cllab::explain {

struct Prediction {
    double low = 0, high = 0;  ///< of the changed cell's time over the cell's
    std::string because;
    bool elsewhere = false;  ///< another resource bounds the changed cell
    bool divided = false;    ///< the same work in at least twice or at most half as many groups
    double apart =
        1;  ///< from what is predicted to what other limiters may make of it: 1.3 is a third more time or less
};

/// What `claim`, whose limiter is named, predicts when the cell of `record` declares `changed` instead; nothing when
/// that is no test.
std::optional<Prediction> predict(const Record& record, const Explanation& claim, const WorkInfo& changed,
                                  const Limits& limits);

/// The whole interval within what is predicted, beside it, or neither.
Outcome judge(double low, double high, const RatioEstimate& found);

/// Withdraws the claim when one of its tests came out otherwise.
void conclude(Explanation& claim);

/// The cell as it is.
struct Unchanged {
    const Cell& cell;
    const Record& record;  ///< ok and timed
    const Device& device;
    Setup setup;
    StoredBuild built;
};

struct ChangedCell {
    Cell cell;
    std::shared_ptr<const Experiment> experiment{};  ///< the cell's, where it is none of the lab's
};

struct HalfItems {
    ChangedCell changed;
    WorkInfo work;                 ///< what is left of the record's
    double before = 0, after = 0;  ///< work-items
};
/// The first half of the groups along the last dimension that has two or more: each work-item takes as long, and there
/// are half of them; else why there is no such cell. Text that asks how many work-items there are shares the same work
/// out among fewer. Where so few groups are left that a unit may have none, less work takes as long.
std::variant<HalfItems, std::string> half_of_items(const Unchanged& of);

/// Tests the named limiter of `claim` by at most three changes of one thing each (the value of an axis, fewer groups
/// resident, half of the work-items, more arithmetic) against the cell as it was, over arrangements; withdraws it when
/// one comes out otherwise than it predicts. `record`: of `cell`, ok and timed; `limits`: what `claim` rests on.
void test_claim(Measure& measure, const Cell& cell, const Record& record, const Limits& limits, Explanation& claim);

/// Whether a line that may be compiled has one of these words. Of what stands behind #ifdef NAME it is known where
/// `options` do not define NAME.
bool asks_for(const std::string& text, const std::string& options, const std::vector<std::string>& functions);

}  // namespace cllab::explain
