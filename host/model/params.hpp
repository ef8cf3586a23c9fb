// The one way from a point to a set-up. Params reads the axes of one cell, replaces "auto" by a value, and keeps both.
// A record's point is therefore the point that ran: given back by --axis, it makes the same cell.
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

    // An axis with a value. All throw Error(result) for an axis that the variant does not have.
    const std::string& text(const std::string& axis);
    std::int64_t integer(const std::string& axis);
    std::size_t count(const std::string& axis);  ///< an integer of 0 or more
    double real(const std::string& axis);

    // The value of an axis that may be "auto"; then `automatic` is used and recorded.
    std::string text(const std::string& axis, const std::string& automatic);
    std::int64_t integer(const std::string& axis, std::int64_t automatic);
    std::size_t count(const std::string& axis, std::size_t automatic);
    double real(const std::string& axis, double automatic);
    Extent shape(const std::string& axis, const Extent& automatic);  ///< an extent left to the driver stays "auto"

    /// An axis that can only have `value` here: used for "auto". Throws Unsupported with `reason`, e.g. "a CPU has one
    /// work-item per group", when the point asks for another.
    std::size_t only(const std::string& axis, std::size_t value, const std::string& reason);
    /// Records the value of an axis after rounding or clamping.
    void record(const std::string& axis, const std::string& value);
    void record(const std::string& axis, std::uint64_t value) { record(axis, std::to_string(value)); }

    bool is_auto(const std::string& axis);
    /// The point with every "auto" that was read replaced.
    const Point& resolved() const { return point_; }
    /// Axes of the point that were not read.
    std::vector<std::string> unread() const;

private:
    Point point_;
    std::set<std::string> read_;
};

/// Resolves the axes of request.point on request.device. Cheap: builds nothing and makes no data. Throws Error(usage)
/// for a point that makes no sense on any device and Unsupported for one that this device cannot do.
Point resolve(const Experiment& experiment, const Request& request);

/// The set-up of one cell, with Setup::point. Throws as resolve(), and Error(result) when the family left an axis
/// unread.
Setup set_up(const Experiment& experiment, const Request& request);

}  // namespace cllab::model
