// The reference kernel of rule 14 (host/README.md) on a device: a chain of about 0.2 ms, so that three of them every
// 50 ms cost 1 %. It also warms the device up, by time (rule 4).
#pragma once

#include <chrono>
#include <optional>

#include "device/session.hpp"
#include "device/timer.hpp"
#include "run/measure.hpp"

namespace cllab::run {

class Reference {
public:
    /// Builds the chain and finds its length, some milliseconds. Without a chain, and on a simulator, there is no
    /// reference.
    explicit Reference(device::Session& session);
    bool exists() const { return chain_.has_value(); }
    /// Seconds of one chain; 0 when there is no reference, and from then on there is none when the driver refuses.
    double once();
    /// Seconds of the fastest of three chains: a preempted host is not a slower clock. 0 when there is no reference.
    double take();
    /// True when the last one was taken 50 ms ago or earlier.
    bool due() const;

private:
    double run();

    device::Session& session_;
    bool by_events_;
    std::optional<device::Chain> chain_;
    int trips_ = 1024;
    std::chrono::steady_clock::time_point last_{};
};

/// Runs the reference kernel until two windows agree, unless the device was in use a moment ago. Returns whether it
/// settled when it was last warmed up; true where there is no reference kernel.
bool warm_up_device(device::Session& session, Reference& reference, const MeasureRules& rules);

}  // namespace cllab::run
