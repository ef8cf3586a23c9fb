// Isolation by fork: the parent never calls OpenCL, so a worker starts from a clean process and may crash or hang in a
// driver without taking the run along.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/processes/arrangement_pool.hpp"
#include "app/processes/pool.hpp"

namespace cllab::app {

class ChildRunner : public Runner {
public:
    explicit ChildRunner(double timeout_seconds) : timeout_seconds_(timeout_seconds) {}

    std::vector<model::Device> devices(const std::vector<std::string>& selectors,
                                       std::vector<std::string>* troubles) override;
    void expect(const run::RunRequest& like, const std::string& selector, bool more) override;
    void run(const run::RunRequest& request, const std::string& selector, const Events& events,
             const std::set<run::CellNumber>& already) override;

protected:
    /// `first`: as Lane's. False where its driver failed.
    bool run(const run::RunRequest& request, const std::string& selector, const Events& events,
             const std::set<run::CellNumber>& already, std::unique_ptr<Worker> first);
    double timeout_seconds() const { return timeout_seconds_; }
    const std::vector<model::Device>& known_devices() const { return devices_; }  ///< those asked for last

private:
    double timeout_seconds_;
    std::map<std::string, device::DeviceState> device_states_;  ///< by selector
    std::vector<model::Device> devices_;
    std::optional<ArrangementPool> arrangements_;
};

}  // namespace cllab::app
