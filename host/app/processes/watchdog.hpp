// What is seen, and said, when a driver or a kernel ends this process by a signal, or hangs: a driver that hangs cannot
// be stopped from inside, only left.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "app/processes/runner.hpp"
#include "core/descriptor.hpp"

namespace cllab::app {

/// From now on a crash prints what describe_crash() was told last in front of the signal's own end. A stack overflow in
/// this thread does too; in a driver's thread it cannot.
void catch_crashes();
/// "cllab: the process crashed `where`. `advice`", and likewise for SIGQUIT. Also takes back the handlers where a
/// driver has put its own in their place.
void describe_crash(const std::string& where, const std::string& advice);

/// Says "cllab: the process ended `where`. `advice`" when this process does not live as long as this object. A process
/// of its own says it: a driver that is being loaded (PoCL's LLVM) replaces the handlers of signals, and then aborts.
class EndWitness {
public:
    EndWitness(const std::string& where, const std::string& advice);
    ~EndWitness();
    static void dismiss();  ///< what ends the process is said already
    EndWitness(const EndWitness&) = delete;
    EndWitness& operator=(const EndWitness&) = delete;

private:
    Pipe pipe_;
    pid_t witness_ = -1;
};

/// While one lives, its thread is in a driver. After `seconds` without a new phase of a cell, whose record `give_up` is
/// told then, the process ends with 1; outside of cells with 3, and not before a driver has had the time to start.
class Watchdog {
public:
    /// `doing`: what the driver is asked for outside of a cell, for a sentence.
    Watchdog(std::string doing, double seconds, const GiveUp& give_up);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    /// The same events, of which it is told too. Who is told of them may wait for a reader: that is not the driver.
    Events watched(const Events& events);

private:
    void watch();
    double limit() const;
    [[noreturn]] void end_process();
    void outside(const std::function<void()>& work);

    std::string doing_;
    double seconds_;
    const GiveUp& give_up_;
    std::atomic<std::uint64_t> beat_{0};
    std::atomic<bool> inside_{true};
    std::mutex mutex_;  ///< of what follows
    std::condition_variable wake_;
    bool over_ = false;
    std::map<run::CellNumber, model::Record> begun_;  ///< a record is not copied before each of its samples
    const model::Record* current_ = nullptr;
    std::string phase_;
    std::thread thread_;
};

}  // namespace cllab::app
