#include "app/running/run_plan.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ranges>
#include <set>

#include "app/choose/request.hpp"
#include "app/files/baseline.hpp"
#include "app/files/profile_file.hpp"
#include "app/screen/results.hpp"
#include "app/screen/streams.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

namespace cllab::app {
namespace {

void check_dumps(const run::Settings& settings) {
    if (!settings.dumps) return;
    std::error_code code;
    std::filesystem::create_directories(*settings.dumps, code);
    if (code || access(settings.dumps->c_str(), W_OK) != 0)
        throw Error(Blame::environment, "the dumps folder '" + settings.dumps->string() +
                                            "' cannot be written: " + (code ? code.message() : std::strerror(errno)) +
                                            "; --dumps DIR names another, --no-dumps writes none");
}

/// What --columns may name beside every table's columns.
std::set<std::string> axes_and_metrics(const std::vector<model::Group>& plan) {
    std::set<std::string> out{model::build_options_axis().name};
    for (const auto& cell : plan | std::views::join) {
        for (const auto& axis : cell.experiment->axes) out.insert(axis.name);
        for (const auto& metric : cell.experiment->metrics) out.insert(metric.name);
    }
    return out;
}

Outputs outputs_of(const RunOptions& options) {
    if (!options.baseline.empty()) make_baseline_folder(options.baseline);
    Outputs out(options);
    out.writes_pictures(options.outputs);
    out.reads_for(options);
    return out;
}

void refuse_devices(const RunOptions& options, const std::vector<model::Device>& devices) {
    if (!options.outputs.empty() && devices.size() != 1)
        throw Error(Blame::usage, "--output needs one device; " + std::to_string(devices.size()) + " are selected");
    for (const auto& device : devices)
        if (const bool simulated = device.implementation == model::Implementation::oclgrind;
            options.native && (simulated || !device.is_cpu()))
            throw Error(Blame::usage,
                        "option '--native' is for CPU devices; '" + excerpt(device.name) + "' is " +
                            (simulated ? "a simulator" : "of type " + std::string(model::name(device.type))));
}

/// Whether these selectors may name more than one device. Each then works in a child process, so that a driver that
/// crashes does not take the others' results along.
bool may_be_several(const std::vector<std::string>& selectors) {
    return selectors.size() > 1 ||
           std::ranges::any_of(selectors, [](const auto& s) { return lower(s) == "all" || parse_integer(s); });
}

}  // namespace

RunPlan::RunPlan(const RunOptions& asked, const Snapshots& earlier)
    : options(asked), timings(std::make_unique<Timings>()), outputs(outputs_of(asked)), choice(asked, earlier) {}

/// Text that is not the lab's own may write anywhere and never end; the arrangements of --vs are processes of their
/// own.
bool RunPlan::needs_isolation() const {
    return options.isolate || !options.cl_dir.empty() || !options.versus.empty() || may_be_several(options.devices) ||
           choice.own();
}

std::vector<model::Device> RunPlan::prepare(Runner& runner) {
    require_columns(options.columns, axes_and_metrics(request.comparisons));
    check_dumps(request.settings);
    if (!options.html.empty()) require_page(request.cells());
    if (!options.png.empty()) require_rasterizer();
    catch_interrupts();
    auto devices = [&] {
        const InPhase phase(Phase::driver_start);
        return named_devices(runner, options.devices);
    }();
    refuse_devices(options, devices);
    for (const auto& device : devices) {
        outputs.reads(profile_path(options.dumps, device));
        check_points(request, device);
    }
    choice.say_defaults(request.left_out);
    if (request.settings.measure) request.settings.limits = read_profiles(options.dumps, devices);
    outputs.open();
    return devices;
}

}  // namespace cllab::app
