// The reference kernel of rule 14 (host/README.md): a chain of about 0.2 ms, so that three of them every 50 ms cost 1
// %. It also warms the device up, by time (rule 4).
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
    /// Builds the chain and finds its length, which takes some milliseconds. There is no reference on a simulator, or
    /// if the chain does not run.
    explicit Reference(device::Session& session);
    bool exists() const { return chain_.has_value(); }
    /// Seconds of one chain; 0 if there is no reference. If the driver fails, there is none from then on.
    double once();
    /// Seconds of the fastest of three chains, because preemption of the host does not mean a slower clock. 0 if there
    /// is no reference.
    double take();
    /// True if the last take() was at least 50 ms ago.
    bool due() const;

private:
    double run();

    device::Session& session_;
    bool by_events_;
    std::optional<device::Chain> chain_;
    int trips_ = 1024;
    std::chrono::steady_clock::time_point last_{};
};

/// Runs the reference kernel until two windows agree, unless the device was in use a moment ago. Returns whether the
/// device settled at the last warm-up; true without a reference kernel.
bool warm_up_device(device::Session& session, Reference& reference, const MeasureRules& rules);

// The yardstick of `of copy`: bandwidth_copy on as many bytes as the cell's own data. Cell and yardstick have the same
// cache state and take turns, so that they are comparable whether or not the data is cached.

class Instruments;

/// Bytes of the copy for an operation that must move `moved` bytes and has `data` bytes of buffers. It is the smaller
/// of the two, at least 4 KiB, rounded to four significant bits so that similar cells share a copy.
std::uint64_t yardstick_bytes(double moved, double data);

/// One copy and its samples.
class Yardstick {
public:
    /// Builds `cell`, a copy whose axis "size" is the size of each of its two buffers, verifies it unless `proved`, and
    /// runs it. Throws Unsupported, Error or cl::Error if the device cannot do so.
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

/// The yardsticks of the cells that take turns on a device. Rates of an earlier comparison do not hold for this one,
/// because the clock, the other load and the free memory differ. That a copy was verified holds for the whole run.
class Yardsticks {
public:
    struct Outcome {
        std::optional<model::YardstickInfo> info;
        std::string why_not;  ///< if there is no info
    };
    /// Forgets the yardsticks of earlier cells.
    void begin_comparison();
    /// Begins a yardstick of `bytes` unless it is known or begun. `room`: bytes that it may use on the device.
    void begin(device::Session& session, Instruments& instruments, const model::Cell& cell, std::uint64_t bytes,
               Cache cache, double room);
    double bytes_on_device() const;  ///< of all yardsticks begun
    /// Takes one sample of each yardstick that has not enough. False: took none.
    bool sample();
    /// Ends the yardsticks with the samples they have, and frees their memory.
    void finish();
    const Outcome* find(std::uint64_t bytes) const;

private:
    std::map<std::uint64_t, Outcome> known_;
    std::map<std::uint64_t, std::unique_ptr<Yardstick>> begun_;
    std::set<std::uint64_t> proved_;
};

}  // namespace cllab::run
