// Who carries a request out: this process, or child processes that a driver may crash or hang.
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
    /// Facts of the devices that the selectors name. Throws as device::resolve. What is wrong with devices that fail
    /// their queries goes to `troubles`.
    virtual std::vector<model::Device> devices(const std::vector<std::string>& selectors,
                                               std::vector<std::string>* troubles = nullptr) = 0;
    /// The cells of the request, but for those that are `already` done, on the device "P:D". Resolves every point
    /// first.
    virtual void run(const run::RunRequest& request, const std::string& selector, const Events& events,
                     const std::set<run::CellNumber>& already = {}) = 0;
    /// The next requests are arrangements `like` this one, which differ in seed and sampling time only, so processes
    /// for them may be begun now. `more`: false when there are no more of them.
    virtual void expect(const run::RunRequest& like, const std::string& selector, bool more) {
        (void)like, (void)selector, (void)more;
    }
};

/// Runner::devices; what is wrong with some is said on stderr.
std::vector<model::Device> named_devices(Runner& runner, const std::vector<std::string>& selectors);
/// The records of the request's first comparison, in its order.
std::vector<model::Record> records_of(Runner& runner, const run::RunRequest& request, const std::string& selector);

/// Told of a cell, as timed_out, that a driver does not come back from, in the last moment of this process.
using GiveUp = std::function<void(model::Record&)>;
/// After `timeout_seconds` in which a driver shows no progress the program ends; see Watchdog.
std::unique_ptr<Runner> in_this_process(double timeout_seconds, GiveUp give_up = {});

/// A child process for each attempt: a child that dies or stalls for `timeout_seconds` costs the cell it was in, and a
/// new child goes on with the rest. run() throws Error when the child reports one; DeviceLost when the device or its
/// driver is to blame. This process must not have called OpenCL: the children would have its drivers, but none of their
/// threads.
std::unique_ptr<Runner> in_child_processes(double timeout_seconds);

/// A device is there but its driver does not work: other devices of the run may.
class DeviceLost : public Error {
public:
    explicit DeviceLost(const std::string& sentence) : Error(Blame::environment, sentence) {}
};

/// Set by SIGINT and SIGTERM; asked between samples.
bool interrupted();
void catch_interrupts();  ///< the first one: wind down; a second one: end at once
void note_interrupts();   ///< for child processes: they only wind down, the parent kills

/// Writes the record beside its dump, when there is one; where that cannot be, the record gets a warning. For the
/// process that made the dump, before others may replace it.
void write_timing(model::Record& record);

using HandOver = std::function<void(const std::string& line)>;
/// Runs `work` in a child process, which may call OpenCL while this process does not. Returns the lines that the child
/// hands over; `taken` gets each line when it arrives. Throws what the child throws, and DeviceLost, beginning with
/// `doing`, when the child dies, or sends no first line within `first_seconds` or no later line within `seconds`.
std::vector<std::string> in_child(const std::function<void(const HandOver&)>& work, const std::string& doing,
                                  double first_seconds, double seconds, const HandOver& taken = {});

/// The same for so many parts: `work` hands over a line when it is ready for the first part that it is given, and then
/// one for each part from that on, which `taken` gets. Where a child ends in a part, what `lost` makes of the reason is
/// its line, and a new child goes on behind it. Throws also DeviceLost when a child ends before it is ready, and
/// run::Interrupted.
void in_children(std::size_t parts, const std::function<void(std::size_t first, const HandOver&)>& work,
                 const std::string& doing, double first_seconds, double seconds,
                 const std::function<void(std::size_t part, const std::string& line)>& taken,
                 const std::function<std::string(const std::string& why)>& lost);

// What a runner does in the process that calls OpenCL: this one, or a child.

/// The devices this process works with: each is opened once, its timer audited and its clock brought up once.
class LocalDevices {
public:
    /// As Runner::devices.
    std::vector<model::Device> devices(const std::vector<std::string>& selectors, std::vector<std::string>* troubles);
    /// As Runner::run, without the cells that are `finished`.
    void run(const run::RunRequest& request, const std::string& selector, const Events& events,
             const std::set<run::CellNumber>& finished = {});
    /// Opens the device and has it do nothing. Throws Error(environment) when there is no such device.
    device::Session& open(const std::string& selector);
    /// Builds what the cell will be built from; a run on this device finds it. Throws as the driver and the cell's
    /// family do.
    void build(const std::string& selector, const run::Settings& settings, const model::Cell& cell);
    /// The device need not be looked at again when it is opened.
    void inherit(const std::string& selector, const device::DeviceState& device_state) {
        inherited_[selector] = device_state;
    }
    /// What is known of a device that is opened from now on includes the programs that were built on it.
    void keep_programs() { keeps_programs_ = true; }
    /// What is known of it for another process; nothing where it was not used.
    std::optional<device::DeviceState> device_state(const std::string& selector) const;

private:
    bool keeps_programs_ = false;
    std::map<std::string, device::DeviceState> inherited_;  ///< by selector, as the others
    std::map<std::string, device::Session> open_;
    std::map<std::string, run::Kept> kept_;  // they go before the sessions
};

// What is seen, and said, when a driver or a kernel ends this process by a signal, or hangs: a driver that hangs cannot
// be stopped from inside, only left.
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
