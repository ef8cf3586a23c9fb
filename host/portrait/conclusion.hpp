// Turns finished cells into curves and conclusions of families that sweep an axis.
#pragma once

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/experiment.hpp"
#include "model/result.hpp"

namespace cllab::portrait {

/// Curves and findings of one family on one device.
struct Conclusion {
    const model::Experiment* experiment = nullptr;
    std::vector<model::Curve> curves;  ///< one per variant and setting of the other axes; samples by ascending x
    std::vector<model::Finding> findings;
    std::string device{};      ///< name, with selector or host
    std::string device_key{};  ///< model::device_key of its records
    /// The record of each sample, by curve, then sample. Valid as long as the source records exist.
    std::vector<model::Rows> points{};
};

/// Every finding with its identifier "<family>.<finding>".
std::vector<std::pair<std::string, const model::Finding*>> findings_of(const std::vector<Conclusion>& conclusions);

/// Conclusions of every family among `records` that has a curve axis or a conclude function. Uses only cells of
/// `device` that have a time.
std::vector<Conclusion> conclude(const std::vector<model::Record>& records, const model::Device& device);

/// Curves from records of one device, which may be absent. Without findings, because these need the device's own facts.
std::vector<Conclusion> curves_of_device(const model::Rows& records, const std::string& device);

/// The records that are points of curves with at least three points.
std::unordered_set<const model::Record*> points_of_curves(const std::vector<Conclusion>& conclusions);

/// Whether a curve has at least three points, enough to show it. Repeated runs of one cell count as one point.
bool is_long_enough(const model::Curve& curve);

/// The axis that a variant sweeps; nullptr if its family has no such variant or axis.
const model::Axis* swept_axis(const model::Experiment& experiment, const std::string& variant);

}  // namespace cllab::portrait
