#include "app/choose/introspection.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "app/processes/child_runner.hpp"
#include "core/grouped.hpp"
#include "device/platforms.hpp"
#include "device/program.hpp"
#include "device/quirks.hpp"

namespace cllab::app {

void drop_stderr() {
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere < 0) return;
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
}

std::string options_on(const model::Device& device, const AskedBuild& build) {
    auto out = build.options;
    if (build.includes_lab)
        for (const auto& define : device::device_defines(device)) out += " -D" + define;
    return out;
}

std::vector<model::Introspection> introspect(device::Session& session, const std::vector<AskedBuild>& builds) {
    return mapped(builds, [&](const auto& build) {
        return device::introspect(session, build.text, options_on(session.facts(), build));
    });
}

std::vector<model::Introspection> ask_in_child(const CellOptions& invocation, const std::vector<AskedBuild>& builds) {
    // --timeout is for kernels that never end, and may be shorter than a driver takes to start and compile on a busy
    // machine.
    const double patience = std::max(invocation.timeout_seconds, 60.0);
    auto lines = in_child(
        [&](const HandOver& hand_over) {
            drop_stderr();
            std::vector<std::string> listed;
            const auto selected =
                hand_over_devices(invocation.devices, [&](const auto& line) { listed.push_back(line); })
                    .front()
                    .selector;
            auto devices = device::discover();
            std::stable_partition(devices.begin(), devices.end(),
                                  [&](const auto& d) { return d.facts.selector == selected; });
            std::vector<model::Introspection> found;
            for (const auto& one : devices) {
                device::Session session(one);
                found = introspect(session, builds);
                if (std::ranges::all_of(found, [](const auto& f) { return f.trouble.empty(); })) break;
            }
            for (const auto& one : found)
                hand_over(nlohmann::json(one).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
            for (const auto& line : listed) hand_over(line);
        },
        "while cllab built the kernel file to find its arguments", patience, patience);
    std::vector<model::Introspection> out;
    for (std::size_t i = 0; i < builds.size(); ++i)
        out.push_back(nlohmann::json::parse(lines.at(i)).get<model::Introspection>());
    lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(builds.size()));
    keep_devices(invocation.devices, std::move(lines));
    return out;
}

}  // namespace cllab::app
