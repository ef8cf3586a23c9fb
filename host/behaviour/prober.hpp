// Asks a device the questions of rows.hpp.
#pragma once

#include <functional>

#include "behaviour/rows.hpp"
#include "device/session.hpp"

namespace cllab::behaviour {

/// What the device answers; outlived by the session. What it or its driver refuses is an answer.
std::function<Answer(const Question&)> answers_of(device::Session& session);

}  // namespace cllab::behaviour
