#include "app/screen/timings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

namespace cllab::app {

void Timings::print(const Phases& of_cells, std::size_t processes) const {
    const double wall = seconds_since(start_), all = static_cast<double>(processes) * wall;
    auto sum = phases_;
    add(sum, of_cells);
    const auto line = [&](std::string phase, double seconds) {
        std::ranges::replace(phase, '_', ' ');
        std::cerr << fmt::format("  {:<16} {:>8.3f} {:>5.1f}%\n", phase, seconds, 100 * seconds / all);
    };
    std::cerr << fmt::format("where {:.3f} s went", wall);
    if (processes > 1) std::cerr << fmt::format(": {} processes side by side had {:.3f} s", processes, all);
    std::cerr << fmt::format("\n  {:<16} {:>8} {:>6}\n", "phase", "time [s]", "share");
    for (const auto phase : all_phases)
        if (sum.contains(phase)) line(name(phase), sum[phase]);
    line("other", all - total(sum));
}

Phases phases_of(const std::vector<model::Record>& records) {
    Phases out;
    for (const auto& record : records) add(out, record.phases);
    return out;
}

}  // namespace cllab::app
