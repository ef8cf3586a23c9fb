// Power over windows of time, from readings of an energy counter. Free of OpenCL, so that it is tested alone.
//
// A counter changes every 1 to 100 ms, so it cannot show the energy of a single launch. It shows power: while launches
// follow each other, the energy between two changes, divided by the time between them. A window lasts from one change
// to another. Its error is the delay in seeing the changes: twice the pause between two readings, 0.8 % of a window of
// half a second. Windows do not overlap, and six of them give an interval as samples do.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "device/sensors.hpp"

namespace cllab::run {

struct EnergyReading {
    double seconds, joules;
};

struct Power {
    std::vector<double> watts;  ///< per window
    unsigned updates = 0;       ///< changes of the counter in the window with the fewest
    std::string trouble;        ///< why there is no window, as the end of a sentence about the counter
};

/// Windows of at least `window` seconds. The first one begins at least `lead` seconds after the first reading, because
/// the sensor lags and the device heats up.
Power power_of(std::span<const EnergyReading> readings, double lead, double window);

/// Says why a row of operations does not show the power of an operation; empty if it does. `each`: seconds per
/// operation in the row; `alone`: seconds of one operation. If the device rests for a quarter of the time, the figure
/// is about 5 % too high.
std::string trouble_of_row(double each, double alone);

/// Another thread reads the meter every 2 ms while `work` runs. It stops early if the meter stops answering.
std::vector<EnergyReading> readings_during(const device::EnergyMeter& meter, const std::function<void()>& work);

}  // namespace cllab::run
