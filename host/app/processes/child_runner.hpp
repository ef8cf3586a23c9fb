// Isolation by fork. The parent never calls OpenCL, so each worker starts from a clean process. If a worker crashes or
// hangs in a driver, the run continues.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/processes/lane.hpp"

namespace cllab::app {

/// A pool of processes, each for one arrangement. Each process opens the device and builds while earlier ones measure.
/// Then it waits for its arrangement.
///
/// On a GPU, most of an arrangement's time passes before its first sample, and that part is not evidence. On an H200
/// the driver starts in 1.6 s, and four programs from the driver's cache take 0.7 s. This work keeps host cores busy,
/// but not the device, so it may overlap another process's measurement. There, eight arrangements took 25 s one after
/// another, and 10 to 15 s with the pool, with the same spread of 0.01 %. Each process still runs one arrangement and
/// ends (host/README.md, rule 15). The order of builds is random.
class ArrangementPool {
public:
    /// Whether preparation on this device leaves other measurements undisturbed: the device is a GPU with its own
    /// memory, and the host has more than `processes` cores.
    static bool pays(const model::Device& device, unsigned cores);

    /// Starts the first processes, for arrangements like `like` on the device "P:D". `known`: the state of that device.
    ArrangementPool(run::RunRequest like, const std::string& selector, const device::DeviceState& known);

    /// Gives this arrangement to the oldest process that becomes ready, and starts another process. Drops processes
    /// that do not become ready. `last_use`: when the device was last used. nullptr: no process became ready.
    std::unique_ptr<Worker> take(const run::RunRequest& request, Clock::time_point last_use);

private:
    /// The driver starts in 2.3 s, the time of about four arrangements. A process takes 0.5 GB of an H200's 140 GB.
    static constexpr std::size_t processes = 4;
    static constexpr double patience = 60;  ///< maximum seconds until a process is ready; mainly the driver's start

    void refill();
    void work(const run::RunRequest& builds, Link& parent, Position& position);

    run::RunRequest like_;
    std::string selector_;
    device::DeviceState known_;
    std::uint64_t begun_ = 0;
    bool works_ = true;
    std::deque<std::unique_ptr<Worker>> waiting_;
};

/// Processes that compile the cells of a screening into the driver's cache. One process is not enough: a driver
/// compiles one text at a time, whatever the number of threads. NVIDIA's driver takes 65 ms for a kernel of 30 lines,
/// and 2 ms from its cache. PoCL compiles for a work-group size at its first launch: 0.3 s, and 35 ms from its cache.
class Compilers {
public:
    /// Starts the processes if the request is a screening and they help on this device. The destructor ends them.
    Compilers(const run::RunRequest& request, const std::string& selector, const model::Device& device, unsigned cores);
    /// Returns when the compilers no longer disturb a measurement. Throws run::Interrupted.
    void wait(double timeout_seconds);

private:
    static constexpr std::size_t most = 8;
    bool beside_ = false;  ///< whether they run during the measurement
    std::vector<std::unique_ptr<Worker>> processes_;
};

/// For a child process that opens drivers for another reason. Returns the devices that the selectors name, and passes
/// them to the parent as lines for keep_devices(). Throws as device::resolve.
std::vector<model::Device> hand_over_devices(const std::vector<std::string>& selectors, const HandOver& hand_over);
/// For the parent. The next ChildRunner::devices() with the same selectors uses these lines, once. This saves a child
/// that would open every driver again.
void keep_devices(const std::vector<std::string>& selectors, std::vector<std::string> lines);

class ChildRunner : public Runner {
public:
    explicit ChildRunner(double timeout_seconds) : timeout_seconds_(timeout_seconds) {}

    std::vector<model::Device> devices(const std::vector<std::string>& selectors,
                                       std::vector<std::string>* troubles) override;
    void expect(const run::RunRequest& like, const std::string& selector, bool more) override;
    void run(const run::RunRequest& request, const std::string& selector, const Events& events,
             const std::set<run::CellNumber>& already) override;

private:
    double timeout_seconds_;
    std::map<std::string, device::DeviceState> device_states_;  ///< by selector
    std::vector<model::Device> devices_;
    std::optional<ArrangementPool> arrangements_;
};

}  // namespace cllab::app
