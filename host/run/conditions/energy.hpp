// Power over windows of time, from readings of a counter of energy; free of OpenCL so that it is tested alone.
//
// A counter moves every 1 to 100 ms and says nothing of the time between, so that a launch has no energy of its own in
// it. What it says is power: while launches follow each other, the energy between two of its moves over their time.
// A window goes from one move to another, so its error is how late the moves are seen: twice the pause between two
// readings, 0.8 % of a window of half a second. Windows do not overlap, and six of them give an interval as samples do.
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
    std::vector<double> watts;  ///< of each window
    unsigned updates = 0;       ///< moves of the counter in the window that has the fewest
    std::string trouble;        ///< why there is no window: how a sentence about the counter ends
};

/// Windows of at least `window` seconds, the first of them `lead` seconds or more behind the first reading, as the
/// sensor is late and the device heats up.
Power power_of(std::span<const EnergyReading> readings, double lead, double window);

/// Why a row of operations that take so long each does not say what one draws, whose own time is `alone`; empty where
/// it does. With a quarter of rest between them the figure is some 5 % too high.
std::string trouble_of_row(double each, double alone);

/// The meter read every 2 ms by a thread of its own while `work` goes on. Ends early where the meter stops answering.
std::vector<EnergyReading> readings_during(const device::EnergyMeter& meter, const std::function<void()>& work);

}  // namespace cllab::run
