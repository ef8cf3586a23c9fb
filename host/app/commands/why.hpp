// What `cllab why` measures beside the cells: through the runner that ran them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/processes/runner.hpp"
#include "explain/peaks.hpp"
#include "model/device.hpp"

namespace cllab::app {

class RunnerMeasure : public explain::Measure {
public:
    /// `settings` are those of the cells, and `progress` gets what is being done. All outlive this.
    RunnerMeasure(Runner& runner, const run::Settings& settings, const model::Device& device,
                  std::function<void(const std::string&)> progress)
        : runner_(runner), settings_(settings), device_(device), progress_(std::move(progress)) {}

    model::Record run(const model::Cell& cell, double seconds) override;
    std::vector<model::Figure> peak(const std::string& id, double seconds) override;

private:
    Runner& runner_;
    const run::Settings& settings_;
    const model::Device& device_;
    std::function<void(const std::string&)> progress_;
};

}  // namespace cllab::app
