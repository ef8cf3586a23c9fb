// The variants beside each other on all devices of a run, or of the runs of many machines.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "model/result.hpp"
#include "report/table/ranking.hpp"
#include "report/table/table.hpp"

namespace cllab::report {

/// A device that was to be measured and gave no record.
struct LostDevice {
    model::DeviceInfo device;
    std::string reason;
};

/// A section a family, a row a variant and point, a column a device: the median time with its ratio to the device's
/// fastest variant at that point, or the status. Ratios stay within a device; times of two devices are only set side by
/// side. After each section one sentence a point tells which variant wins where, and which pairs change order beyond
/// their intervals. A simulator's times are shown and not ranked. Of a cell that was run more than once the latest
/// counts. Prints nothing for fewer than two devices.
void print_by_device(std::ostream& out, const std::vector<model::Record>& records, const std::vector<LostDevice>& lost,
                     const MayBeAuto& may_be_auto, const TableStyle& style);

}  // namespace cllab::report
