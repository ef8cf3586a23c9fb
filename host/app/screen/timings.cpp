#include "app/screen/timings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

namespace cllab::app {

void Timings::print(const Phases& of_cells) const {
    const double wall = seconds_since(start_);
    auto sum = phases_;
    add(sum, of_cells);
    const auto line = [&](std::string phase, double seconds) {
        std::ranges::replace(phase, '_', ' ');
        std::cerr << fmt::format("  {:<16} {:>8.3f} {:>5.1f}%\n", phase, seconds, 100 * seconds / wall);
    };
    std::cerr << fmt::format("where {:.3f} s went\n  {:<16} {:>8} {:>6}\n", wall, "phase", "time [s]", "share");
    for (const auto phase : all_phases)
        if (sum.contains(phase)) line(name(phase), sum[phase]);
    line("other", wall - total(sum));
}

Phases phases_of(const std::vector<model::Record>& records) {
    Phases out;
    for (const auto& record : records) add(out, record.phases);
    return out;
}

}  // namespace cllab::app
