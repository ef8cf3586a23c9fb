// What a profile says that no kernel of the device can beat.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/device.hpp"
#include "model/limits.hpp"
#include "model/result.hpp"

namespace cllab::explain {

using namespace model;

/// The limits among the figures of a profile of `device` taken at `utc`. `absent`: identifiers of those that it does
/// not have.
Limits limits_of(const std::vector<Figure>& figures, const std::vector<std::string>& absent, const std::string& utc,
                 const Device& device);

/// Why the record's rates or its time cannot be: the figure, the limit and the profile it is from; else nothing. 5 %
/// above a limit are allowed, for the spread of both. `one_launch`: the time is that of a single launch by the event
/// clock.
std::optional<std::string> beyond_peak(const Record& record, const Limits& limits, bool one_launch);

}  // namespace cllab::explain
