// Runs one operation of a cell to see what it executes or outputs. Verifies and times nothing.
#pragma once

#include <functional>

#include "device/session.hpp"
#include "model/plan.hpp"
#include "run/request.hpp"

namespace cllab::run {

struct LaunchedOnce {
    model::Status status = model::Status::ok;
    std::string reason;                  ///< if the status is not ok
    std::size_t launches = 0;            ///< in the operation
    std::vector<std::string> assumed{};  ///< values assumed instead of stated, in words: "groups of 256 work-items"
};

/// Sets the cell up for the device `as`, builds it on the session's device, calls `before` with what is known by then,
/// and launches it. `after` gets the output. If the driver would choose the work-group size, one of up to 256
/// work-items is used.
LaunchedOnce launch_once(device::Session& session, const Settings& settings, const model::Cell& cell,
                         const model::Device& as, const std::function<void(const LaunchedOnce&)>& before,
                         const std::function<void(const model::Buffers&)>& after = {});

}  // namespace cllab::run
