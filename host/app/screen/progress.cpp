#include "app/screen/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>

#include "core/text.hpp"

namespace cllab::app {
namespace {

/// Rounded to about two digits: "4 s", "50 s", "3 min", "2 h".
std::string about(double seconds) {
    if (seconds < 10) return std::to_string(std::max(1, static_cast<int>(std::lround(seconds)))) + " s";
    if (seconds < 95) return std::to_string(10 * std::lround(seconds / 10)) + " s";
    if (seconds < 95 * 60) return std::to_string(std::lround(seconds / 60)) + " min";
    return std::to_string(std::lround(seconds / 3600)) + " h";
}

}  // namespace

std::string progress_line(std::size_t done, std::size_t begun, std::size_t cells, const std::string& id,
                          const std::string& device, const std::string& phase, double elapsed) {
    constexpr double worth_it = 10;
    auto out = fmt::format("[{} of {} done] {}: {}", done, cells, id, phase);
    // Cells of one comparison are built and verified one by one, and sampled together.
    const double part = (static_cast<double>(done) + static_cast<double>(begun) / 2) / static_cast<double>(cells);
    if (part > 0 && part < 1 && elapsed / part > worth_it)
        out += ", about " + about(elapsed / part - elapsed) + " left";
    return out + ", on " + printable(device);  // last, because a narrow terminal cuts the line
}

void Progress::phase(const model::Record& record, const char* phase) {
    const auto now = Clock::now();
    if (phase == std::string_view("sample")) sampled_.insert({record.id, record.point});
    if (last_id_ == record.id && now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    last_id_ = record.id;
    say_doing(
        progress_line(done_, sampled_.size(), cells_, record.id, record.device.name, phase, seconds_since(start_)));
}

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
