// Which probes make a device's portrait, and which points of their sweeps decide something.
#pragma once

#include <cstdint>
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

/// A size of whole pages, as an axis has it.
std::string whole_pages(double bytes);

/// Points that are added between two neighbours of a sweep that differ.
struct Refinement {
    std::string variant, axis;
    std::uint64_t quantum = 1;  ///< points are multiples of it
    std::size_t most = 0;       ///< points, of each part of that variant; 0: no refinement
};

/// The sweeps of one family. Families come in order of importance: a small budget leaves out the last ones.
struct Probe {
    std::string family;
    std::vector<Part> parts;
    /// Samples of all points of a curve alternate, so that drift does not look like a trend. Not for probes of memory,
    /// whose points would push each other out of the caches.
    bool interleave = true;
    Refinement refine{};
    std::vector<std::string> data{};  ///< axes that cost no build, because most variants have them in no define
};
std::vector<Probe> probes_for(const model::Device& device);

/// The few cells that a figure of the portrait, "fma.peak.float", is found from again; none where it takes a sweep, or
/// more than some seconds.
std::vector<Part> parts_of_figure(const std::string& id, const model::Device& device);

/// The sweeps of a CPU's caches of which a latency or a rate is withheld: what others do in a level adds to the times
/// of some points, and where it does, no figure is found. Without those in random order, which take longest.
std::vector<Part> sweeps_to_repeat(const std::vector<Conclusion>& conclusions, const model::Device& device);

/// At most `most` new points where the curves bend: in the middle (of the logarithms) of neighbours whose times differ
/// by more than 15 % and that lie more than 12 % apart, greatest difference first. Ascending, multiples of `quantum`.
std::vector<std::uint64_t> decisive_points(const std::vector<model::Curve>& curves, std::uint64_t quantum,
                                           std::size_t most);

}  // namespace cllab::portrait
