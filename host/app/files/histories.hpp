// The times of each cell over the runs among some records.
#pragma once

#include <vector>

#include "model/history.hpp"

namespace cllab::app {

/// The timed records of each cell on each device under any driver, by time, and where their level changed.
std::vector<model::History> histories(const std::vector<model::Record>& records);

}  // namespace cllab::app
