// From what the user asked to the cells that will run: variants times axis points. Knows nothing of devices.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/registry.hpp"

namespace cllab::model {

struct Cell {
    const Experiment* experiment = nullptr;
    const Variant* variant = nullptr;
    std::string id;     ///< family_variant
    Point point;
    std::string label;  ///< the axes that vary in this plan, "width=1024,height=512"; empty when none does
};

/// Cells of one family at one point: a comparison, whose samples are interleaved round by round.
using Group = std::vector<Cell>;

/// `overrides` are the --axis settings, name and value list, in the order given; a later one of the same name wins.
/// Throws Error(usage) for an axis that no selected family has, with the nearest names, or for a value out of range.
std::vector<Group> make_plan(const std::vector<Selected>& selected,
                             const std::vector<std::pair<std::string, std::string>>& overrides);

}  // namespace cllab::model
