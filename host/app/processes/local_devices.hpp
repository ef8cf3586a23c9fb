// What a runner does in the process that calls OpenCL: this one, or a child.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "app/processes/runner.hpp"
#include "device/session.hpp"
#include "run/instruments.hpp"

namespace cllab::app {

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

}  // namespace cllab::app
