// `cllab` alone: what it is, what to type first, and the devices that are here.
#include "app/commands/start.hpp"

#include <fmt/format.h>

#include "app/processes/runner.hpp"
#include "app/screen/streams.hpp"
#include "core/text.hpp"
#include "device/session.hpp"
#include "model/device.hpp"
#include "report/table/layout.hpp"

namespace cllab::app {
namespace {

/// A line for each device; one for the reason where there is none. In a child process, where a driver may crash.
std::string devices_here() {
    constexpr double loading_seconds = 10;
    try {
        const auto lines = in_child(
            [](const HandOver& hand_over) {
                for (const auto& f : device::discover(nullptr))
                    hand_over(fmt::format("  {:<6}{:<5}{}", f.facts.selector, model::name(f.facts.type), f.facts.name));
            },
            "while the drivers were loaded", loading_seconds, loading_seconds);
        return join(lines, "\n") + "\n";
    } catch (const std::exception& e) {
        return report::wrap(std::string("none: ") + e.what(), "  ", page_width(results_fd()));
    }
}

}  // namespace

int print_start() {
    results() << report::fit(
        "cllab runs OpenCL kernels, proves and times them, and says which won and why.\n\n"
        "  cllab --device cpu --kernel pitch_short8   one kernel: its time and code\n"
        "  cllab my.cl                                a kernel file of your own\n"
        "  cllab why 'pitch_*' --device cpu           what limits each variant\n\n"
        "Devices here\n" +
            devices_here() + "\n`cllab list` has the kernels, `cllab --help` the commands.\n",
        page_width(results_fd()));
    return 0;
}

}  // namespace cllab::app
