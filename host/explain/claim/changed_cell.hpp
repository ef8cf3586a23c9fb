// A cell with half of its work-items, which no axis changes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "model/device.hpp"
#include "model/plan.hpp"
#include "model/result.hpp"

namespace cllab::explain {

/// The cell as it is.
struct Unchanged {
    const model::Cell& cell;
    const model::Record& record;  ///< ok and timed
    const model::Device& device;
    model::Setup setup;
    model::StoredBuild built;
};

struct ChangedCell {
    model::Cell cell;
    std::shared_ptr<const model::Experiment> experiment{};  ///< the cell's, where it is none of the lab's
};

struct HalfItems {
    ChangedCell changed;
    model::WorkInfo work;          ///< what is left of the record's
    double before = 0, after = 0;  ///< work-items
};
/// The first half of the groups along the last dimension that has two or more: each work-item takes as long, and there
/// are half of them; else why there is no such cell. Text that asks how many work-items there are shares the same work
/// out among fewer. Where so few groups are left that a unit may have none, less work takes as long.
std::variant<HalfItems, std::string> half_of_items(const Unchanged& of);

}  // namespace cllab::explain
