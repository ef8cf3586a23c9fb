// What a runner does in the process that calls OpenCL: this one, or a child.
#pragma once

#include <map>
#include <set>

#include "app/runner.hpp"
#include "device/session.hpp"

namespace cllab::app {

/// As Runner::devices.
std::vector<model::Device> devices_here(const std::vector<std::string>& selectors, std::vector<std::string>* troubles);

/// The devices this process works with: each is opened once, its timer audited and its clock brought up once.
class Here {
public:
    /// As Runner::run, without the cells that are `finished`.
    void run(const run::RunRequest& request, const std::string& selector, const Events& events, const std::set<run::CellNumber>& finished = {});

private:
    std::map<std::string, device::Session> open_;
};

}  // namespace cllab::app
