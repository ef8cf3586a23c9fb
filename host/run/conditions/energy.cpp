#include "run/conditions/energy.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/clock.hpp"
#include "core/units.hpp"

namespace cllab::run {

Power power_of(std::span<const EnergyReading> readings, double lead, double window) {
    Power out;
    const EnergyReading* begin = nullptr;
    unsigned updates = 0;
    for (std::size_t i = 1; i < readings.size(); ++i) {
        const auto& now = readings[i];
        if (now.joules < readings[i - 1].joules) return {{}, 0, "went backwards"};
        if (now.joules == readings[i - 1].joules || now.seconds - readings.front().seconds < lead) continue;
        ++updates;
        if (begin && now.seconds - begin->seconds < window) continue;
        if (begin) {
            out.watts.push_back((now.joules - begin->joules) / (now.seconds - begin->seconds));
            out.updates = out.watts.size() == 1 ? updates : std::min(out.updates, updates);
        }
        begin = &now;
        updates = 0;
    }
    if (out.watts.empty())
        out.trouble = readings.empty()
                          ? "does not answer"
                          : "moved too seldom in " + format_seconds(readings.back().seconds - readings.front().seconds);
    return out;
}

std::string trouble_of_row(double each, double alone) {
    constexpr double most = 1.25;
    if (each <= most * alone) return {};
    return "in a row operations take " + format_seconds(each) + " each, where one takes " + format_seconds(alone) +
           ", so that the device rests between them";
}

std::vector<EnergyReading> readings_during(const device::EnergyMeter& meter, const std::function<void()>& work) {
    constexpr std::chrono::milliseconds pause(2);
    std::vector<EnergyReading> out;
    const std::jthread reader([&](const std::stop_token& end) {
        const auto start = Clock::now();
        for (auto joules = meter.joules(); joules && !end.stop_requested(); joules = meter.joules()) {
            out.push_back({seconds_since(start), *joules});
            std::this_thread::sleep_for(pause);
        }
    });
    work();
    return out;
}

}  // namespace cllab::run
