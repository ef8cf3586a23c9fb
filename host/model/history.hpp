// The times of one cell over many runs, and where their level changed, as data. compare/ finds the levels, report/
// prints them.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "model/result.hpp"

namespace cllab::model {

struct Level {
    std::size_t first = 0, count = 0;  ///< points
    double centre = 0;                 ///< median of their logs
    bool provisional = false;          ///< too few points follow its beginning to be sure of it
};

struct HistoryPoint {
    std::string utc, label, run;
    double seconds = 0;      ///< median
    std::size_t record = 0;  ///< its index among those that the history was made of
};

struct History {
    std::string id;
    std::vector<std::pair<std::string, std::string>> point;
    DeviceInfo device;
    std::string options;               ///< of its builds
    std::vector<HistoryPoint> points;  ///< by time
    std::vector<Level> levels;
};

}  // namespace cllab::model
