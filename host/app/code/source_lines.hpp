// Source lines of dumped code; they are stored in the dump folders.
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

/// Builds each cell once more with line information. If this gives the code of the cell's dump, writes lines.txt into
/// that dump. `like` has the settings of the run. Measures nothing. Returns per cell why it has no lines; empty: it
/// has.
std::vector<std::string> add_lines(Runner& runner, const run::Settings& like, const model::Device& device,
                                   std::span<const DumpedCell> cells);

/// The cells of a run whose code is shown on the page: the first cell of each code, at most most_cards.
class DumpedCode {
public:
    void take(const model::Cell& cell, const model::Record& record);
    /// Adds lines device by device. Prints on stderr what has no lines.
    void add_lines(Runner& runner, const run::Settings& like, const std::vector<model::Device>& devices) const;

private:
    std::set<std::string> known_;
    std::map<std::string, std::vector<DumpedCell>> cells_;  ///< by device selector
};

}  // namespace cllab::app
