// From finished cells to curves and conclusions: what a family with an axis to sweep answers.
#pragma once

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/experiment.hpp"
#include "model/result.hpp"

namespace cllab::portrait {

/// What one family says on one device.
struct Conclusion {
    const model::Experiment* experiment = nullptr;
    std::vector<model::Curve> curves;  ///< one a variant and setting of the other axes; samples by ascending x
    std::vector<model::Finding> findings;
    std::string device{};      ///< its name, with selector or host
    std::string device_key{};  ///< model::device_key of its records
    /// By curve, then sample: the record it is of, as long as the records are there that this was concluded from.
    std::vector<model::Rows> points{};
};

/// Every finding, and what facts are joined by: "<family>.<finding>".
std::vector<std::pair<std::string, const model::Finding*>> findings_of(const std::vector<Conclusion>& conclusions);

/// Conclusions of every family among `records` that has a curve axis or a conclude function. Only cells that are ok
/// take part, and only those of `device`.
std::vector<Conclusion> conclude(const std::vector<model::Record>& records, const model::Device& device);

/// Conclusions from records of one device that may be elsewhere: curves without findings, which need the device's own
/// facts.
std::vector<Conclusion> curves_of_device(const model::Rows& records, const std::string& device);

/// The records that are points of curves long enough to be shown as one (three points).
std::unordered_set<const model::Record*> points_of_curves(const std::vector<Conclusion>& conclusions);

/// Samples of a curve that is shown as one: three points or more, those of one cell that several runs repeated being
/// one.
bool is_long_enough(const model::Curve& curve);

/// The axis that a variant sweeps; nothing when its family knows no such variant or axis.
const model::Axis* swept_axis(const model::Experiment& experiment, const std::string& variant);

}  // namespace cllab::portrait
