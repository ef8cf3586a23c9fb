// What a sample says of all cores of a CPU, where others had some of them meanwhile.
#pragma once

#include "experiments/lib/findings.hpp"
#include "model/result.hpp"

namespace cllab::model::lib {

/// Part of the device's cores that the sample had; 1 where that is not known, and of all that is no CPU.
inline double share_of_cores(const Curve::Sample& s, const Device& device) {
    if (!device.is_cpu()) return 1;
    Timing time;
    time.cores = metric(s, "cores").value_or(0);
    time.waited = metric(s, "cores_waited").value_or(0);
    return time.share_of(device.compute_units);
}

/// `rate` of the sample, per second, as that of all cores: by what those did that the sample had.
inline double rate_of_all_cores(double rate, const Curve::Sample& s, const Device& device) {
    return rate / share_of_cores(s, device);
}

/// The same at the slow end of the sample's interval, which is what chooses the best of several: the fastest time of a
/// disturbed one may be any.
inline double sure_rate_of_all_cores(double rate, const Curve::Sample& s, const Device& device) {
    return s.high > 0 ? rate_of_all_cores(rate, s, device) * s.seconds / s.high : 0;
}

}  // namespace cllab::model::lib
