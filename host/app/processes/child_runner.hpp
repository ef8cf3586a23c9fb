// Isolation by fork: the parent never calls OpenCL, so a worker starts from a clean process and may crash or hang in a
// driver without taking the run along.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/processes/lane.hpp"

namespace cllab::app {

/// Processes that open the device and build while those before them measure, and sleep until it is their turn.
///
/// What an arrangement does before its first sample is no evidence, and on a GPU it is most of it: on an H200 a
/// driver's start takes 1.6 s, and four programs that the driver's cache knows 0.7 s. All of that keeps cores of the
/// host busy and not the device, so it goes on beside what the device measures: eight arrangements there took 25 s one
/// after the other, and 10 to 15 s so, with the same spread of 0.01 %. Each process does one arrangement and ends: what
/// an arrangement is held to be (host/README.md, rule 15) stays true. The order of builds is drawn.
class ArrangementPool {
public:
    /// Whether what a process of this device does before it measures leaves what others measure alone: with memory of
    /// its own, and `cores` of the host to spare.
    static bool pays(const model::Device& device, unsigned cores);

    /// Begins the first. For arrangements like that one on the device "P:D", of which it is known what is `known`.
    ArrangementPool(run::RunRequest like, const std::string& selector, const device::DeviceState& known);

    /// The process that is ready first of those that are next, with this arrangement as its work; another one is begun.
    /// `last_use`: of the device. Nothing: none works.
    std::unique_ptr<Worker> take(const run::RunRequest& request, Clock::time_point last_use);

private:
    /// A start of 2.3 s in the time of four arrangements; 0.5 GB each of an H200's 140.
    static constexpr std::size_t processes = 4;
    static constexpr double patience = 60;  ///< seconds for a driver's start

    void refill();
    void work(const run::RunRequest& builds, Link& parent, Position& position);

    run::RunRequest like_;
    std::string selector_;
    device::DeviceState known_;
    std::uint64_t begun_ = 0;
    bool works_ = true;
    std::deque<std::unique_ptr<Worker>> waiting_;
};

/// Processes that compile the cells of a screening and leave them in the driver's cache: a driver compiles one text
/// after the other, whatever the threads. NVIDIA's takes 65 ms for a kernel of 30 lines and 2 ms from the cache; PoCL's
/// 0.3 s for a work-group's size, at its first launch, and 35 ms.
class Compilers {
public:
    /// Begins them where they help; they end with this.
    Compilers(const run::RunRequest& request, const std::string& selector, const model::Device& device, unsigned cores);
    /// Returns when the compilers no longer disturb a measurement. Throws run::Interrupted.
    void wait(double timeout_seconds);

private:
    static constexpr std::size_t most = 8;
    bool beside_ = false;  ///< whether they run beside the measurement
    std::vector<std::unique_ptr<Worker>> processes_;
};

/// In a child process that opens drivers for another reason: the devices that the selectors name, and lines that say
/// so to the parent. Throws as device::resolve.
std::vector<model::Device> hand_over_devices(const std::vector<std::string>& selectors, const HandOver& hand_over);
/// In the parent: the next ChildRunner that is asked for the same selectors answers from these lines, once. A child of
/// its own would open every driver again.
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
