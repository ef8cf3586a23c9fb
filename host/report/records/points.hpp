// Tells records of many runs and machines apart: by their devices, by their points, and by the axes that they have.
// Also their warnings, each once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.hpp"

namespace cllab::report {

/// The value of an axis; empty if the point has no such axis.
const std::string& value_at(const model::PointValues& point, const std::string& axis);

std::optional<double> metric_value(const model::Record& record, std::string_view name);

/// A value as --axis takes it, in its short form: "64Ki" for 65536. Numbers of four digits stay.
std::string axis_value(const std::string& value);

/// "width=4096 size=64Ki": the axes and values for which `shown` holds.
template <typename Shown>
std::string point_text(const model::PointValues& point, Shown shown) {
    std::string out;
    for (const auto& [axis, value] : point)
        if (shown(axis, value)) out += (out.empty() ? "" : " ") + axis + "=" + axis_value(value);
    return out;
}
inline std::string point_text(const model::PointValues& point) {
    return point_text(point, [](const auto&, const auto&) { return true; });
}

/// "pitch_wide width=4096"; only the name if there are no axes.
std::string cell_title(const std::string& id, const std::string& point);
inline std::string cell_title(const std::string& id, const model::PointValues& point) {
    return cell_title(id, point_text(point));
}

/// A reason without the words that begin with a digit. "a footprint of 192 MiB is too large" gives the same as 256 MiB.
/// cl_khr_fp16 and cl_khr_fp64 differ.
std::string without_numbers(const std::string& reason);

/// The latest of several records of one cell.
const model::Record* latest_of(const model::Rows& records);

// Devices, by model::device_key.

/// True when the records were made on more than one host.
bool several_hosts(const model::Rows& records);
inline bool several_hosts(const std::vector<model::Record>& records) { return several_hosts(model::rows_of(records)); }

/// " (0:0), NVIDIA CUDA, driver 570.86.15", and " on node1" when a host is given: what follows a device's name in a
/// heading.
std::string device_details(const model::DeviceInfo& device, const std::string& host);

/// A warning, and the records that have it.
struct Note {
    std::string text;
    model::Rows records;
};
/// The warnings of all records, each once, numbered in the order they appear; the rows carry the numbers.
class Notes {
public:
    explicit Notes(const model::Rows& records);
    const std::vector<Note>& all() const { return all_; }
    /// The numbers of the record's warnings, from 1.
    std::set<std::size_t> of(const model::Record& record) const;
    /// "1,3": the same as a text.
    std::string text_of(const model::Record& record) const;

private:
    std::vector<Note> all_;
    std::map<std::string, std::size_t> number_of_;
};

/// The axes and values of many rows. Takes time linear in the number of rows, as tables may have tens of thousands.
class Points {
public:
    /// Axes are in the order of first appearance. They must tell rows with the same `owner` apart.
    Points(const model::Rows& rows, const std::function<std::string(const model::Record&)>& owner);

    /// The axes that are not dropped.
    const std::vector<std::string>& names() const { return names_; }

    bool differs(std::size_t axis) const;     ///< between any two rows
    bool everywhere(std::size_t axis) const;  ///< every row has a value of it
    /// True when the owners do not all have the same set of values of this axis.
    bool differs_by_owner(std::size_t axis) const;
    /// True when no two rows of one owner have the same values of all axes, or of all axes except `without`.
    bool tell_apart(std::optional<std::size_t> without = {}) const;
    /// Drops each axis for which `leaves` holds, one by one. Later calls of `leaves` do not see the axes dropped
    /// before.
    void drop_if(const std::function<bool(std::size_t axis)>& leaves);

    /// The number of each row's group. Rows of a group share the values of all axes that are not dropped. Numbers
    /// follow the order of first appearance.
    std::vector<std::size_t> groups() const;

private:
    std::vector<std::string> names_;
    std::vector<std::vector<std::uint32_t>> values_;  ///< by axis, then row: equal numbers are equal texts
    std::vector<std::uint32_t> owners_;               ///< by row
};

}  // namespace cllab::report
