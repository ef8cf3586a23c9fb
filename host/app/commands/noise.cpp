// `cllab devices --noise`: how small a difference this machine can tell now, and what disturbs it.
#include <fmt/format.h>

#include <cmath>

#include "app/choose/request.hpp"
#include "app/commands.hpp"
#include "app/comparing/versus.hpp"
#include "app/processes/runner.hpp"
#include "app/screen/streams.hpp"
#include "core/text.hpp"
#include "device/sensors.hpp"
#include "inspect/tools/tool.hpp"
#include "model/registry.hpp"
#include "report/table/layout.hpp"
#include "run/conditions/conditions.hpp"

namespace cllab::app {
namespace {

constexpr double seconds = 10;

/// The yardstick's copy of a megabyte, and the same once more under another name.
model::Group twins() {
    auto left =
        model::make_plan(model::select(model::registry(), {"bandwidth_copy"}), {{"size", "1Mi"}}).front().front();
    auto right = left;
    right.options = "-DCLLAB_TWIN=1";
    return {left, right};
}

std::vector<run::Condition> conditions_of(const model::Device& device) {
    auto out = run::host_conditions();
    if (device.implementation != model::Implementation::nvidia) return out;
    const auto tool = inspect::find_tool({"nvidia-smi"});
    const auto id = device::nvidia_id(device.identity);
    if (!tool || id.empty()) return out;
    const auto asked = inspect::run_tool(
        *tool, {"--query-gpu=clocks.sm,clocks.max.sm,clocks_throttle_reasons.active,persistence_mode,mig.mode.current",
                "--format=csv,noheader,nounits", "--id=" + id});
    if (!asked.ok()) return out;
    for (auto& condition : run::nvidia_conditions(asked.out.substr(0, asked.out.find('\n'))))
        out.push_back(std::move(condition));
    return out;
}

std::string percent(double part) { return fmt::format("{:.2f} %", 100 * part); }

void print_floor(const model::Comparison& c) {
    const auto& r = c.judgement.ratio;
    if (!c.trouble.empty()) {
        results() << "  floor: not known; " << printable(c.trouble) << '\n';
        return;
    }
    results() << fmt::format("  floor: over {} arrangements in {:.1f} s, equal code differs by {}", r.n, c.seconds,
                             percent(std::abs(r.ratio - 1)));
    if (r.covered())
        results() << fmt::format(
            ", interval [{:.4f}, {:.4f}]; a comparison of this length cannot find a difference below {}\n", r.low,
            r.high, percent(std::max(r.high - 1, 1 / r.low - 1) + std::expm1(r.half_width())));
    else
        results() << "; too few for an interval\n";
}

void print_conditions(const std::vector<run::Condition>& all) {
    std::vector<report::Column> columns{{.title = "  what"}, {.title = "is"}, {.title = "what changes it"}};
    for (const auto& c : all)
        report::add_row(columns, {(c.disturbs ? "! " : "  ") + c.name, c.value,
                                  !c.disturbs        ? ""
                                  : c.remedy.empty() ? "nothing from here"
                                                     : c.remedy});
    const auto width = page_width();
    const report::Grid grid(std::move(columns), 0, false);
    results() << grid.header() << '\n';
    for (std::size_t i = 0; i < all.size(); ++i) results() << report::fit(grid.row(i), width) << '\n';
    results() << "! disturbs timings as it is\n";
}

}  // namespace

int print_noise(const CellOptions& invocation) {
    catch_interrupts();
    const auto runner = in_child_processes(invocation.timeout_seconds);
    const auto devices = named_devices(*runner, invocation.devices);
    auto settings = settings_of(invocation);
    const auto pair = twins();
    compare::Rules rules;
    rules.precise = 0;  // all of the time is used
    for (const auto& device : devices) {
        results() << printable(device.name + " (" + device.selector + "), " + device.platform) << '\n';
        model::Record nothing_known;
        nothing_known.point = pair.front().point.values();
        print_floor(compare_cells(
            *runner, settings, device.selector, pair, nothing_known, nothing_known, seconds,
            [](const model::Comparison&) {}, rules));
        print_conditions(conditions_of(device));
        results() << '\n' << std::flush;
    }
    return 0;
}

}  // namespace cllab::app
