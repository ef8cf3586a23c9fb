// The source lines of dumped code, beside the dumps.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "app/processes/runner.hpp"
#include "model/plan.hpp"
#include "model/result.hpp"

namespace cllab::app {

/// A cell that was built and dumped.
struct DumpedCell {
    model::Cell cell;
    std::string dump;  ///< Record::dump
};

/// Builds each cell once more on the device, with line information, and writes lines.txt into its dump where that made
/// the code that the dump holds. `like` has the settings of the run. Nothing is measured. By cell: the sentence that
/// says why it has no lines; empty where it has.
std::vector<std::string> add_lines(Runner& runner, const run::Settings& like, const model::Device& device,
                                   std::span<const DumpedCell> cells);

/// The cells of a run of whose code the page has a card: the first of each code.
class DumpedCode {
public:
    void take(const model::Cell& cell, const model::Record& record);
    /// Device by device. What has no lines is said on stderr.
    void add_lines(Runner& runner, const run::Settings& like, const std::vector<model::Device>& devices) const;

private:
    std::set<std::string> known_;
    std::map<std::string, std::vector<DumpedCell>> cells_;  ///< by the device's selector
};

}  // namespace cllab::app
