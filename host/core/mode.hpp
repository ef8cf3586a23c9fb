// The value most samples gather around.
#pragma once

#include <span>

namespace cllab {

struct Mode {
    double value = 0;
    double share = 0;  ///< of the samples, those within 3 % of it
};

/// Half-sample mode: of ever smaller halves of the sorted samples the narrowest (Bickel and Fruehwirth 2006). A median
/// is the device's time only where more than half of the samples were undisturbed; this is where they merely agree.
/// Zeros without samples.
Mode half_sample_mode(std::span<const double> samples);

}  // namespace cllab
