// What `cllab why` measures beside the cells: through the runner that ran them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/processes/runner.hpp"
#include "explain/measure.hpp"

namespace cllab::app {

class RunnerMeasure : public explain::Measure {
public:
    /// `settings` are those of the cells, and `progress` gets what is being done. All outlive this.
    RunnerMeasure(Runner& runner, const run::Settings& settings, const model::Device& device,
                  std::function<void(const std::string&)> progress)
        : runner_(runner), settings_(settings), device_(device), progress_(std::move(progress)) {}

    const model::Device& device() const override { return device_; }
    model::Setup set_up(const model::Cell& cell) const override;
    model::StoredBuild built_from(const model::Cell& cell, const model::Setup& setup) const override;
    model::Record run(const model::Cell& cell, double seconds, bool code) override;
    std::vector<model::Figure> peak(const std::string& id, double seconds) override;
    model::Comparison compare(const model::Cell& changed, const model::Cell& cell, const model::Record& record,
                              const std::string& what, const explain::Enough& enough) override;

private:
    Runner& runner_;
    const run::Settings& settings_;
    const model::Device& device_;
    std::function<void(const std::string&)> progress_;
};

}  // namespace cllab::app
