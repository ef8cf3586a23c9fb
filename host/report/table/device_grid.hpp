// The variants side by side on all devices of one run or of many: as data by family, point and device, ranked within
// each device; and as tables.
#pragma once

#include <iosfwd>
#include <set>
#include <string>
#include <vector>

#include "model/result.hpp"
#include "report/table/ranking.hpp"
#include "report/table/table.hpp"

namespace cllab::report {

inline constexpr std::size_t most_devices = 64;  ///< columns

/// A device that was to be measured and gave no record.
struct LostDevice {
    model::DeviceInfo device;
    std::string reason;
};

struct GridDevice {
    std::string letter, description;
    const model::Record* first = nullptr;  ///< null: the device was lost
    bool simulated = false;
};

/// All variants at one point. `cells[v][d]` is the cell of variant v on device d.
struct GridGroup {
    model::PointValues point;
    std::vector<std::string> ids;
    std::vector<std::vector<RankedCell>> cells;
};

/// The cells of a device that have a time. Ranked cells come first. Within a set that took turns, the fastest is first.
std::vector<const RankedCell*> fastest_first(const GridGroup& group, std::size_t device);

struct GridFamily {
    std::string name;
    std::vector<GridGroup> groups;                           ///< at least one; all have values of the same axes
    std::set<std::string> varying;                           ///< axes on which groups differ
    std::string common_point() const;                        ///< values of the other axes: "width=4096 local=64"
    model::PointValues place(const GridGroup& group) const;  ///< the group's values of the varying axes
    std::string where(const GridGroup& group) const;         ///< place() as text
};

struct DeviceGrid {
    bool apart = false;  ///< timed rows of one group did not take turns with each other
    std::vector<GridDevice> devices;
    std::vector<GridFamily> families;
    std::size_t unshown = 0;   ///< devices beyond most_devices
    std::size_t repeated = 0;  ///< earlier records of cells that were run again
};

/// If a cell ran more than once, its latest record counts. The records must outlive the grid.
DeviceGrid device_grid(const Rows& records, const std::vector<LostDevice>& lost, const MayBeAuto& may_be_auto);

/// Which variant wins where, and which pairs change order beyond their intervals. Empty when fewer than two devices
/// rank the variants of this point and no pair changes order.
std::string verdict(const GridGroup& group, const std::vector<GridDevice>& devices);

/// One section per family, one row per variant and point, one column per device: the median time with its ratio to the
/// device's fastest variant at that point, or the status. Ratios stay within a device; times of two devices are only
/// shown side by side. After each point comes its verdict(). A simulator's times are shown and not ranked. If a cell
/// ran more than once, its latest record counts. Prints nothing for fewer than two devices.
void print_by_device(std::ostream& out, const std::vector<model::Record>& records, const std::vector<LostDevice>& lost,
                     const MayBeAuto& may_be_auto, const TableStyle& style);

}  // namespace cllab::report
