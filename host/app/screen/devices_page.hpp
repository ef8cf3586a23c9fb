// What `cllab devices` prints of one device.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

#include "device/session.hpp"
#include "report/table/table.hpp"

namespace cllab::app {

struct DeviceRow {
    model::Device facts;
    device::TimerAudit timer;
    std::size_t preferred_multiple = 0, sub_group = 0;
    std::string binary, clock, trouble;  ///< trouble: why there is no timer and no binary
};

void print_device(std::ostream& out, const DeviceRow& row, const report::TableStyle& style);

}  // namespace cllab::app
