// Turns a point into a setup. Params reads the axes of one cell and replaces "auto" by a value. A record's point is
// therefore the point that ran. If --axis gives the same values, the cell is the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "model/experiment.hpp"

namespace cllab::model {

class Params {
public:
    explicit Params(const Point& point) : point_(point) {}

    // The value of an axis. All throw Error(result) if the variant does not have the axis.
    const std::string& text(const std::string& axis);
    std::int64_t integer(const std::string& axis);
    std::size_t count(const std::string& axis);  ///< an integer of 0 or more
    double real(const std::string& axis);

    // The value of an axis that may be "auto". For "auto", returns and records `automatic`.
    std::string text(const std::string& axis, const std::string& automatic);
    std::int64_t integer(const std::string& axis, std::int64_t automatic);
    std::size_t count(const std::string& axis, std::size_t automatic);
    double real(const std::string& axis, double automatic);
    /// If `automatic` leaves the extent to the driver, the point keeps "auto".
    Extent shape(const std::string& axis, const Extent& automatic);

    /// An axis whose only possible value on this device is `value`, which also replaces "auto". If the point has
    /// another value, throws Unsupported with `reason`, e.g. "a CPU has one work-item per group".
    std::size_t only(const std::string& axis, std::size_t value, const std::string& reason);
    /// Records the value of an axis after rounding or clamping.
    void record(const std::string& axis, const std::string& value);
    void record(const std::string& axis, std::uint64_t value) { record(axis, std::to_string(value)); }

    bool is_auto(const std::string& axis);
    /// The point, with every "auto" replaced that was read.
    const Point& resolved() const { return point_; }
    /// Axes of the point that were not read.
    std::vector<std::string> unread() const;

private:
    Point point_;
    std::set<std::string> read_;
};

/// Resolves the axes of request.point on request.device. Cheap: builds nothing and makes no data. Throws Error(usage)
/// for a point that is invalid on every device, and Unsupported for a point that this device does not support.
Point resolve(const Experiment& experiment, const Request& request);

/// The setup of one cell, with Setup::point. Throws as resolve(), and Error(result) if the family did not read all
/// axes.
Setup set_up(const Experiment& experiment, const Request& request);

}  // namespace cllab::model
