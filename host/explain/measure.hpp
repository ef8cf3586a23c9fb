// Who can run cells, for what holds an explanation against more measurements.
#pragma once

#include <string>
#include <vector>

#include "model/limits.hpp"
#include "model/plan.hpp"
#include "model/result.hpp"

namespace cllab::explain {

/// Of one device. What measures throws when it is interrupted, and where the device is lost.
class Measure {
public:
    virtual ~Measure() = default;
    /// The cell alone, sampled for `seconds` at the most; which of its code runs is not asked.
    virtual model::Record run(const model::Cell& cell, double seconds) = 0;
    /// A figure of a profile from the few cells that say it, each sampled for `seconds`, and behind it others that the
    /// same cells say; empty where they do not say it.
    virtual std::vector<model::Figure> peak(const std::string& id, double seconds) = 0;
};

}  // namespace cllab::explain
