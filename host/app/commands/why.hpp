// `cllab why` in its two forms: of kernels that it measures, and of records that were measured before.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/commandline/options.hpp"
#include "app/files/outputs.hpp"
#include "app/processes/runner.hpp"
#include "explain/peaks.hpp"
#include "model/device.hpp"
#include "model/explanation.hpp"
#include "report/table/table.hpp"

namespace cllab::app {

/// Whether a pattern of `why` names a file of records: its name ends in .jsonl or .json.
bool names_records(const std::string& pattern);

/// `why FILE.jsonl`: what limited cells that were measured before, against the profiles below --dumps, each device's
/// own. What `cllab ncu` counted of a cell takes the place of what the cell declares.
int why_of_records(const WhyOptions& invocation);

/// Throws Error(usage): the device has no profile, and what to do.
[[noreturn]] void no_profile(const std::string& dumps, const model::Device& device, const std::string& remedy);

/// Explanations as lines of JSON, and as blocks below the heading of their device where standard output is free.
class WhyPage {
public:
    explicit WhyPage(Sink& sink) : sink_(sink) {}
    /// `utc`: of the profile.
    void add(const model::Record& record, const model::Explanation& explanation, const std::string& utc);
    /// A last paragraph.
    void end(const std::string& text) const;

private:
    Sink& sink_;
    report::TableStyle style_{wants_colour(), page_width()};
    std::string device_;
};

// What `cllab why` measures beside the cells: through the runner that ran them.

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
