// The records of many devices as data: the variants of each family at each point, by devices, ranked within each
// device.
#pragma once

#include <string>
#include <vector>

#include "model/result.hpp"
#include "report/table/by_device.hpp"
#include "report/table/ranking.hpp"

namespace cllab::report {

inline constexpr std::size_t most_devices = 64;  ///< columns

struct GridDevice {
    std::string letter, description;
    const model::Record* first = nullptr;  ///< nothing: a device that was lost
    bool simulated = false;
};

struct GridCell {
    const model::Record* record = nullptr;  ///< nothing: this variant was not run there
    Rank rank;
};

/// All variants at one point: `cells[v][d]` is that of variant v on device d.
struct GridGroup {
    std::vector<std::string> point, ids;
    std::vector<std::vector<GridCell>> cells;
};

struct GridFamily {
    std::string name;
    std::vector<std::string> axes;         ///< those of a group's point
    std::vector<GridGroup> groups;         ///< at least one
    bool differs(std::size_t axis) const;  ///< between two groups
    std::string common_point() const;      ///< "width=4096 local=64" of the axes on which no groups differ
};

struct DeviceGrid {
    std::vector<GridDevice> devices;
    std::vector<GridFamily> families;
    std::size_t unshown = 0;   ///< devices beyond most_devices
    std::size_t repeated = 0;  ///< earlier records of cells that were run again
    double difference = 0;     ///< as Comparison's, the largest
    bool apart = false;        ///< likewise, of any
};

/// Of a cell that was run more than once the latest counts. The records outlive the grid.
DeviceGrid device_grid(const std::vector<const model::Record*>& records, const std::vector<LostDevice>& lost,
                       const MayBeAuto& may_be_auto);

/// Which variant wins where, and which pairs change order beyond their intervals. Empty when fewer than two devices
/// rank the variants of this point and no pair changes order.
std::string verdict(const GridGroup& group, const std::vector<GridDevice>& devices);

}  // namespace cllab::report
