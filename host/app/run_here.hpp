// What a runner does in the process that calls OpenCL: this one, or a child.
#pragma once

#include <set>

#include "app/runner.hpp"

namespace cllab::app {

/// As Runner::devices.
std::vector<model::Device> devices_here(const std::vector<std::string>& selectors, std::vector<std::string>* troubles);

/// As Runner::run, without the cells that are `finished`.
void run_here(const run::RunRequest& request, const std::string& selector, const Events& events, const std::set<run::CellNumber>& finished);

}  // namespace cllab::app
