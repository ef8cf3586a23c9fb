// What tells records apart where those of many runs and machines stand together: their devices; their points as
// numbers, which axes they have and which records share a point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/result.hpp"

namespace cllab::report {

/// The value of an axis in the record's point; empty where it has no such axis.
const std::string& value_at(const model::Record& record, const std::string& axis);

std::optional<double> metric_value(const model::Record& record, std::string_view name);

/// "width=4096 local=64" of the axes named; of all of them when `axes` is empty.
std::string point_text(const std::vector<std::pair<std::string, std::string>>& point,
                       const std::vector<std::string>& axes = {});

/// "pitch_wide width=4096", and only the name where there are no axes.
std::string cell_title(const std::string& id, const std::vector<std::pair<std::string, std::string>>& point);

// Devices, by model::device_key.

/// True when the records were made on more than one host.
bool several_hosts(const model::Rows& records);
inline bool several_hosts(const std::vector<model::Record>& records) { return several_hosts(model::rows_of(records)); }

/// " (0:0), NVIDIA CUDA, driver 570.86.15", and " on node1" when a host is given: what follows a device's name in a
/// heading.
std::string device_details(const model::DeviceInfo& device, const std::string& host);

/// What tells devices apart by their keys: name and details where the records are of several devices, else nothing.
std::map<std::string, std::string> labels_of_several_devices(const std::vector<model::Record>& records);

/// Linear in the number of records: tables of tens of thousands are made from it.
class Points {
public:
    /// Axes in the order of first appearance. Rows with the same `owner` are those that the axes must tell apart.
    Points(const model::Rows& rows, const std::function<std::string(const model::Record&)>& owner);

    std::size_t axes() const { return names_.size(); }
    const std::string& name(std::size_t axis) const { return names_[axis]; }
    std::vector<std::string> names() const { return names_; }

    bool differs(std::size_t axis) const;     ///< between any two rows
    bool everywhere(std::size_t axis) const;  ///< every row has a value of it
    /// True when the owners do not all have the same set of values of this axis.
    bool differs_by_owner(std::size_t axis) const;
    bool tell_apart() const;  ///< no two rows of one owner have the same values of all axes
    bool tell_apart_without(std::size_t axis) const;
    /// Drops each axis for which `leaves` holds, one by one: what is asked of the next is without those before.
    void drop_if(const std::function<bool(std::size_t axis)>& leaves);

    /// For each row the number of its group: rows of one group share the values of all axes left. Numbers go by first
    /// appearance.
    std::vector<std::size_t> groups() const;

private:
    std::uint64_t part(std::size_t row, std::size_t axis) const;
    void drop(std::size_t axis);
    bool distinct(const std::vector<std::uint64_t>& marks) const;

    std::vector<std::string> names_;
    std::vector<std::size_t> salts_;                  ///< of each axis left
    std::vector<std::vector<std::uint32_t>> values_;  ///< by axis, then row: equal numbers are equal texts
    std::vector<std::uint32_t> owners_;               ///< by row
    std::vector<std::uint64_t> marks_;                ///< by row: the sum of its parts and its owner's
};

}  // namespace cllab::report
