// The output of `cllab devices` for one device.
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
    std::size_t suggested_local = 0;     ///< for 2^20 work-items of a small kernel; 0: unknown
    std::string binary, clock, trouble;  ///< trouble: why there is no timer and no binary
};

/// Which of these the device lists: sub-group shuffles and rotations, packed dot products, command buffers.
std::vector<std::string> features_of(const model::Device& device);

void print_device(std::ostream& out, const DeviceRow& row, const report::TableStyle& style);

}  // namespace cllab::app
