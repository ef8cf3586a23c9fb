// The size of a launch, for code that is made or chosen by it.
#pragma once

#include <cstdint>

#include "model/axes.hpp"

namespace cllab::inspect {

/// dims == 0: not known, or left to the driver.
struct LaunchSize {
    model::Extent local{}, global{};
    std::int64_t local_arguments = 0;  ///< bytes of local memory that its __local arguments bring
};

}  // namespace cllab::inspect
