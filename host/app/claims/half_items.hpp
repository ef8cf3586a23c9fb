// A cell with half of its work-items and everything else as it was: what each of them does takes as long, and there is
// half of it.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "app/claims/ballast.hpp"
#include "model/limits.hpp"

namespace cllab::app {

struct HalfItems {
    std::shared_ptr<const model::Experiment> experiment;
    model::Cell cell;
    model::WorkInfo work;          ///< what is left of the record's
    double before = 0, after = 0;  ///< work-items
};

/// The first half of the groups along the last dimension that has two or more; else why there is none. Text that asks
/// how many work-items there are shares the same work out among fewer. Where so few groups are left that a unit may
/// have none, less work takes as long.
std::variant<HalfItems, std::string> half_of_items(const model::Cell& cell, const model::Setup& setup,
                                                   const model::Record& record, const run::Settings& settings,
                                                   const model::Device& device);

}  // namespace cllab::app
