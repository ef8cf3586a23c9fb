// One operation of a cell on a simulator, for what it executes: nothing is proved, timed or kept.
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

/// Where the driver is to choose a work-group: one of up to 256 items that divides what is launched. `assumed` says so.
void choose_groups(model::Setup& setup, std::vector<std::string>& assumed);

/// Sets the cell up as `as`, the device whose launch is meant, builds it on the session's, calls `before` with what is
/// known by then and launches it. Where the driver is to choose the work-group it is one of up to 256 items.
LaunchedOnce launch_once(device::Session& session, const Settings& settings, const model::Cell& cell,
                         const model::Device& as, const std::function<void(const LaunchedOnce&)>& before);

}  // namespace cllab::run
