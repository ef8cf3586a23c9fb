// The timer audit: are this device's event stamps plausible? Made once per device, before anything is timed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "device/cl.hpp"

namespace cllab::device {

class Session;

struct TimerAudit {
    std::uint64_t reported_step_ns = 0;  ///< CL_DEVICE_PROFILING_TIMER_RESOLUTION
    std::uint64_t step_ns = 0;           ///< greatest common divisor of all START and END stamps
    unsigned launches = 0;               ///< empty launches made
    bool ordered = false;                ///< QUEUED <= SUBMIT <= START <= END in every launch
    bool varied = false;                 ///< not all launches have the same START and END
    double empty_seconds = 0;            ///< median START..END of an empty launch
    double gap_seconds = 0;              ///< wall time of one more back-to-back empty launch
    double event_seconds = 0;            ///< added to gap_seconds by an event per launch
    double event_over_host = 0;          ///< a batch of 20 ms or more: seconds by events over seconds by the host clock
    double tenfold = 0;                  ///< time of ten times the work over the time of the work
    bool trusted = false;
    std::string verdict;  ///< one sentence
};

struct Stamps {
    std::uint64_t queued = 0, submit = 0, start = 0, end = 0;  ///< ns, device or host epoch
};

/// The four stamps of a completed event; 0 for a stamp that the driver fails to report. Never throws.
Stamps stamps_of(const cl::Event& event);

TimerAudit audit_timer(Session& session);

/// Seconds from the first START to the last END of at least one command, in this order. With one queue, uses the first
/// command's START and the last one's END. With several, any command may be first or last. Throws Error(result) for
/// impossible stamps.
double row_seconds(std::span<const Stamps> commands, bool one_queue);

/// The audit's arithmetic on stamps, separate so that it can be tested without a device.
void judge_stamps(TimerAudit& audit, const std::vector<Stamps>& stamps);
/// Fills `trusted` and `verdict` from the numbers.
void judge(TimerAudit& audit);

/// A chain of dependent integer steps in one work-item. Its time grows with the trips on every device, no compiler can
/// shorten it, and it uses no memory. The timer audit and the drift reference use it.
class Chain {
public:
    /// Throws Error(result) if the kernel does not build, cl::Error if the driver fails.
    explicit Chain(Session& session);
    /// Enqueues one launch of `trips` steps >= 0; does not wait.
    void launch(int trips, cl::Event* event);

private:
    cl::CommandQueue queue_;
    cl::Kernel kernel_;
    cl::Buffer out_;
};

}  // namespace cllab::device
