// The yardstick of `of copy`: bandwidth_copy on as many bytes as the cell's own data, in the same state of the caches
// and in turns with it, so that like is held against like whether the data is in a cache or not.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/plan.hpp"
#include "model/result.hpp"
#include "run/cache_state.hpp"
#include "run/cell/subject.hpp"
#include "run/measure.hpp"

namespace cllab::run {

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
