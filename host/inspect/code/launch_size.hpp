// The size of a launch, for code that is made or chosen by it.
#pragma once

#include "model/axes.hpp"

namespace cllab::inspect {

/// dims == 0: not known, or left to the driver.
struct LaunchSize {
    model::Extent local{}, global{};
};

}  // namespace cllab::inspect
