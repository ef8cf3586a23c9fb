// The test of a named limiter: what it predicts of the same kernel with one axis changed, and what the measurement says
// to that.
//
// The time is that of the limiter and a rest that no bound explains. Where the changed cell has the limiter's bound
// too, its time must be that of its largest bound and no more than the same rest, or as much more of it as there is
// more work. Where the data moves to a faster level, a kernel that this level's rate had limited must get faster by the
// byte, and no faster than the new level allows. What would come out alike under another limiter is no test.
#pragma once

#include <optional>
#include <string>

#include "model/explanation.hpp"
#include "model/limits.hpp"

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
std::optional<Prediction> predict(const model::Record& record, const model::Explanation& claim,
                                  const model::WorkInfo& changed, const model::Limits& limits);

/// The whole interval within what is predicted, beside it, or neither.
model::Outcome judge(double low, double high, const model::RatioEstimate& found);

/// Withdraws the claim when one of its tests came out otherwise.
void conclude(model::Explanation& claim);

}  // namespace cllab::explain
