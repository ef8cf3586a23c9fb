// From finished cells to curves and conclusions: what a family with an axis to sweep answers.
#pragma once

#include <optional>
#include <string>
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
};

/// Conclusions of every family among `records` that has a curve axis or a conclude function. Only cells that are ok
/// take part, and only those of `device`.
std::vector<Conclusion> conclude(const std::vector<model::Record>& records, const model::Device& device);

/// Of cells that were measured twice the record with the shorter time stays, in its place among `records`, unless that
/// time is not known within 10 %: a difference of two times that others disturb may come out too small.
void keep_shorter(std::vector<model::Record>& records, std::vector<model::Record> again);

/// Conclusions from records of one device that may be elsewhere: curves without findings, which need the device's own
/// facts.
std::vector<Conclusion> curves_of_device(const model::Rows& records, const std::string& device);

/// Where a record stands in the conclusions: the curve it is a point of, and its place on the axis.
struct CurvePlace {
    std::size_t conclusion = 0, curve = 0;
    double x = 0;
};
/// By record; nothing for those that are no points of curves long enough to be shown as one (three points).
std::vector<std::optional<CurvePlace>> places_in_curves(const std::vector<model::Record>& records,
                                                        const std::vector<Conclusion>& conclusions);

/// The records that are no points of curves long enough to be shown as one (three points).
model::Rows without_curves(const std::vector<model::Record>& records, const std::vector<Conclusion>& conclusions);

/// Samples of a curve that is shown as one: three points or more, those of one cell that several runs repeated being
/// one.
bool is_long_enough(const model::Curve& curve);

/// The axis that a variant sweeps; nothing when its family knows no such variant or axis.
const model::Axis* swept_axis(const model::Experiment& experiment, const std::string& variant);

}  // namespace cllab::portrait
