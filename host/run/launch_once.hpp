// One operation of a cell, for what it executes or leaves: nothing is proved or timed.
#pragma once

#include <functional>

#include "device/session.hpp"
#include "model/plan.hpp"
#include "run/request.hpp"

namespace cllab::run {

struct LaunchedOnce {
    model::Status status = model::Status::ok;
    std::string reason;                  ///< of any other status
    std::size_t launches = 0;            ///< of the operation
    std::vector<std::string> assumed{};  ///< what nobody stated, in words: "groups of 256 work-items"
};

/// Sets the cell up as `as`, the device whose launch is meant, builds it on the session's, calls `before` with what is
/// known by then and launches it; `after` gets what it leaves. Where the driver is to choose the work-group it is one
/// of up to 256 items.
LaunchedOnce launch_once(device::Session& session, const Settings& settings, const model::Cell& cell,
                         const model::Device& as, const std::function<void(const LaunchedOnce&)>& before,
                         const std::function<void(const model::Buffers&)>& after = {});

}  // namespace cllab::run
