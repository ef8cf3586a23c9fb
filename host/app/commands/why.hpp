// Measures for `cllab why`, with the runner of its cells.
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
    /// `settings`: those of the cells; `progress` gets the current activity. All arguments must outlive this object.
    RunnerMeasure(Runner& runner, const run::Settings& settings, const model::Device& device,
                  std::function<void(const std::string&)> progress)
        : runner_(runner), settings_(settings), device_(device), progress_(std::move(progress)) {}

    model::Record run(const model::Cell& cell, double seconds) override;
    std::vector<model::Figure> peak(const std::string& id, double seconds) override;
    std::optional<explain::OneCoreTimes> on_one_core(const model::Cell& cell, std::string& why_not) override;

private:
    Runner& runner_;
    const run::Settings& settings_;
    const model::Device& device_;
    std::function<void(const std::string&)> progress_;
};

}  // namespace cllab::app
