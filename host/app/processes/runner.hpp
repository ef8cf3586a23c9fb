// Executes requests: in this process, or in child processes that a driver may crash or hang.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "device/session.hpp"
#include "model/device.hpp"
#include "run/executor.hpp"
#include "run/instruments.hpp"

namespace cllab::app {

using run::Events;

class Runner {
public:
    virtual ~Runner() = default;
    /// Facts of the devices that the selectors name. Throws as device::resolve. Devices that fail their queries add a
    /// sentence to `troubles`.
    virtual std::vector<model::Device> devices(const std::vector<std::string>& selectors,
                                               std::vector<std::string>* troubles = nullptr) = 0;
    /// Runs the cells of the request, except those in `already`, on the device "P:D". Resolves every point first.
    virtual void run(const run::RunRequest& request, const std::string& selector, const Events& events,
                     const std::set<run::CellNumber>& already = {}) = 0;
    /// Announces that the next requests are arrangements `like` this one, with another seed and sampling time.
    /// Processes for them may start now. `more`: false if no more of them follow.
    virtual void expect(const run::RunRequest& like, const std::string& selector, bool more) {
        (void)like, (void)selector, (void)more;
    }
};

/// Runner::devices(). Prints the troubles on stderr.
std::vector<model::Device> named_devices(Runner& runner, const std::vector<std::string>& selectors);
/// The records of the request's first comparison, in the order of its cells.
std::vector<model::Record> records_of(Runner& runner, const run::RunRequest& request, const std::string& selector);

/// Called just before the process ends, with the record of the cell in which the driver hangs. Its status is timed_out.
using GiveUp = std::function<void(model::Record&)>;
/// The program ends if a driver shows no progress for `timeout_seconds`; see Watchdog.
std::unique_ptr<Runner> in_this_process(double timeout_seconds, GiveUp give_up = {});

/// Uses a child process for each attempt. If a child dies or stalls for `timeout_seconds`, its current cell fails and a
/// new child continues with the rest. run() rethrows a child's Error. It throws DeviceLost if the device or its driver
/// is to blame. This process must not have called OpenCL: children would inherit its drivers without their threads.
std::unique_ptr<Runner> in_child_processes(double timeout_seconds);

/// The device exists, but its driver does not work. Other devices of the run may still work.
class DeviceLost : public Error {
public:
    explicit DeviceLost(const std::string& sentence) : Error(Blame::environment, sentence) {}
};

/// Set by SIGINT, SIGTERM and SIGHUP. Polled between samples.
bool interrupted();
void catch_interrupts();  ///< the first signal: wind down; the second: end at once
void note_interrupts();   ///< for child processes: only wind down; the parent kills

/// Writes the record into its dump folder, if it has one. If that fails, the record gets a warning. Call this in the
/// process that made the dump, before another process can replace it.
void write_timing(model::Record& record);

using HandOver = std::function<void(const std::string& line)>;
/// Runs `work` in a child process, which may call OpenCL while this process does not. Returns the lines that the child
/// hands over; `taken` gets each line as it arrives. Rethrows the child's error. Throws DeviceLost, with a message that
/// begins with `doing`, if the child dies or is too slow. Limits: `first_seconds` for the first line, `seconds` for
/// each later one.
std::vector<std::string> in_child(const std::function<void(const HandOver&)>& work, const std::string& doing,
                                  double first_seconds, double seconds, const HandOver& taken = {});

/// Does `parts` pieces of work in child processes. `work` starts at part `first`: it hands over one line when ready,
/// then one line per part, which `taken` gets. If a child dies in a part, `lost` turns the reason into that part's
/// line, and a new child continues with the next part. Throws as in_child(), but DeviceLost only if a child dies before
/// it is ready.
void in_children(std::size_t parts, const std::function<void(std::size_t first, const HandOver&)>& work,
                 const std::string& doing, double first_seconds, double seconds,
                 const std::function<void(std::size_t part, const std::string& line)>& taken,
                 const std::function<std::string(const std::string& why)>& lost);

// The part of a runner for the process that calls OpenCL: this process, or a child.

/// The devices in use by this process. Each is opened, its timer audited and its clock warmed up once.
class LocalDevices {
public:
    /// As Runner::devices.
    std::vector<model::Device> devices(const std::vector<std::string>& selectors, std::vector<std::string>* troubles);
    /// As Runner::run, without the cells in `finished`.
    void run(const run::RunRequest& request, const std::string& selector, const Events& events,
             const std::set<run::CellNumber>& finished = {});
    /// Opens the device without using it. Throws Error(environment) if the device does not exist.
    device::Session& open(const std::string& selector);
    /// Builds the cell's programs; a later run on this device reuses them. Throws as the driver and the cell's family
    /// do.
    void build(const std::string& selector, const run::Settings& settings, const model::Cell& cell);
    /// Reuses this state when the device is opened, instead of a new audit and warm-up.
    void inherit(const std::string& selector, const device::DeviceState& device_state) {
        inherited_[selector] = device_state;
    }
    /// The state of devices opened from now on includes the programs built on them.
    void keep_programs() { keeps_programs_ = true; }
    /// The state of a device for another process; nullopt if the device is not open.
    std::optional<device::DeviceState> device_state(const std::string& selector) const;

private:
    bool keeps_programs_ = false;
    std::map<std::string, device::DeviceState> inherited_;  ///< by selector, as the maps below
    std::map<std::string, device::Session> open_;
    std::map<std::string, run::Kept> kept_;  // declared last: destroyed before the sessions
};

// Messages for a driver or kernel that ends this process by a signal, or hangs. A hanging driver cannot be stopped from
// inside the process.
//
// Installs handlers: a crash prints the latest message of describe_crash(), then the signal's default action ends the
// process. This includes a stack overflow in this thread, but not in a driver's thread.
void catch_crashes();
/// Sets the messages: "cllab: the process crashed `where`. `advice`", and a similar one for SIGQUIT. Also reinstalls
/// the handlers if a driver has replaced them.
void describe_crash(const std::string& where, const std::string& advice);

/// Prints "cllab: the process ended `where`. `advice`" if this process ends before the object's destructor runs. A
/// separate process prints it: a driver that is loading (PoCL's LLVM) replaces signal handlers and may then abort.
class EndWitness {
public:
    EndWitness(const std::string& where, const std::string& advice);
    ~EndWitness();
    static void dismiss();  ///< the reason for the end is already printed
    EndWitness(const EndWitness&) = delete;
    EndWitness& operator=(const EndWitness&) = delete;

private:
    Pipe pipe_;
    pid_t witness_ = -1;
};

/// While an object exists, its thread is in a driver. If no cell enters a new phase for `seconds`, the process ends. In
/// a cell, it ends with status 1, after `give_up` gets the cell's record. Outside of cells it ends with status 3, after
/// at least the time of a driver's start.
class Watchdog {
public:
    /// `doing`: what the driver does outside of cells, for the message.
    Watchdog(std::string doing, double seconds, const GiveUp& give_up);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    /// Wraps the events so that the watchdog sees them. Time in the callbacks does not count: a callback may wait for a
    /// reader.
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
    std::mutex mutex_;  ///< protects the members below
    std::condition_variable wake_;
    bool over_ = false;
    std::map<run::CellNumber, model::Record> begun_;  ///< avoids copying a record before each sample
    const model::Record* current_ = nullptr;
    std::string phase_;
    std::thread thread_;
};

}  // namespace cllab::app
