// The probes of a device profile, and the points of their sweeps that determine a figure.
#pragma once

#include <string>
#include <vector>

#include "model/device.hpp"
#include "model/experiment.hpp"
#include "model/plan.hpp"
#include "portrait/conclusion.hpp"

namespace cllab::portrait {

/// One sweep: a pattern with axis values that suit the device.
struct Part {
    std::string pattern;
    model::Settings axes{};
    bool operator==(const Part&) const = default;
};

/// A size rounded down to whole pages, as the value of an axis.
std::string whole_pages(double bytes);

/// The sweeps of one family. Families come in order of importance: a profile that ends early lacks the last ones.
struct Probe {
    std::string family;
    double seconds = 0;  ///< time limit; no comparison begins after it
    std::vector<Part> parts;
    /// Samples of all points of a curve alternate, so that drift does not look like a trend. False for probes of
    /// memory, whose points would evict each other's data from the caches.
    bool interleave = true;
};
std::vector<Probe> probes_for(const model::Device& device);

/// The few cells that measure a figure such as "fma.peak.float" again. Empty if that takes a sweep, or more than a few
/// seconds.
std::vector<Part> parts_of_figure(const std::string& id, const model::Device& device);

/// The cells of some sweeps. Interleaved: one group per variant, so that the samples of its points alternate.
std::vector<model::Group> plan_of(const std::vector<Part>& parts, bool interleave);

}  // namespace cllab::portrait
