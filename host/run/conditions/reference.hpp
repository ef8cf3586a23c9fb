// The reference kernel of rule 14 (host/README.md) on a device: a chain of about 0.2 ms, so that three of them every
// 50 ms cost 1 %. It also warms the device up, by time (rule 4).
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "device/session.hpp"
#include "device/timer.hpp"
#include "model/plan.hpp"
#include "model/result.hpp"
#include "run/cache_state.hpp"
#include "run/cell/subject.hpp"
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

// The yardstick of `of copy`: bandwidth_copy on as many bytes as the cell's own data, in the same state of the caches
// and in turns with it, so that like is held against like whether the data is in a cache or not.

class Instruments;

/// Bytes of the copy for an operation that must move `moved` bytes and has `data` bytes of buffers: the lesser of the
/// two, rounded to four significant bits so that neighbours share one, and at least 4 KiB.
std::uint64_t yardstick_bytes(double moved, double data);

/// One copy, being measured.
class Yardstick {
public:
    /// Builds `cell`, a copy with an axis "size" for each of its two buffers, proves it unless it is `proved`, and runs
    /// it. Throws Unsupported, Error or cl::Error when the device cannot.
    Yardstick(device::Session& session, Instruments& instruments, model::Cell cell, std::uint64_t bytes, Cache cache,
              bool proved);
    bool enough() const;
    void sample();
    model::YardstickInfo result() const;

private:
    model::Setup setup_;
    device::Built built_;
    std::unique_ptr<Subject> subject_;
    Flush* flush_ = nullptr;
    model::YardstickInfo info_;
    unsigned per_sample_ = 1;
    double spent_ = 0;
    std::vector<double> samples_;
};

/// The yardsticks of the cells that take turns on a device. What an earlier comparison measured says nothing of this
/// one, whose clock, neighbours and room are other ones; only that a copy is right holds for the run.
class Yardsticks {
public:
    struct Known {
        std::optional<model::YardstickInfo> info;
        std::string why_not;  ///< where there is none
    };
    /// Forgets those of the cells before.
    void begin_comparison();
    /// Begins one of `bytes` unless it is known or begun. `room`: bytes it may have on the device.
    void begin(device::Session& session, Instruments& instruments, const model::Cell& cell, std::uint64_t bytes,
               Cache cache, double room);
    double bytes_on_device() const;  ///< of those begun
    /// One sample of each that has not enough. False: none was taken.
    bool sample();
    /// Ends those begun with the samples they have, and gives their memory back.
    void finish();
    const Known* find(std::uint64_t bytes) const;

private:
    std::map<std::uint64_t, Known> known_;
    std::map<std::uint64_t, std::unique_ptr<Yardstick>> begun_;
    std::set<std::uint64_t> proved_;
};

}  // namespace cllab::run
