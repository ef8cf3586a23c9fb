// `cllab why FILE --on PROFILE.json`: the least time on a device that need not be here.

#include <algorithm>
#include <ranges>

#include "app/choose/choice.hpp"
#include "app/choose/request.hpp"
#include "app/commands.hpp"
#include "app/files/outputs.hpp"
#include "app/files/profile_file.hpp"
#include "app/processes/cell_counts.hpp"
#include "app/processes/runner.hpp"
#include "app/screen/streams.hpp"
#include "core/error.hpp"
#include "explain/amounts.hpp"
#include "explain/limiter.hpp"
#include "model/params.hpp"
#include "model/work.hpp"
#include "report/table/explanation.hpp"

namespace cllab::app {
namespace {

void refuse_what_measures(const WhyOptions& asked) {
    const WhyOptions usual;
    const std::pair<const char*, bool> options[]{{"--device", !asked.devices.empty()},
                                                 {"--test", asked.test},
                                                 {"--dumps", asked.dumps != usual.dumps},
                                                 {"--max-time", asked.sampling_seconds != usual.sampling_seconds},
                                                 {"--label", asked.label != usual.label}};
    for (const auto& [name, given] : options)
        if (given)
            throw Error(Blame::usage, std::string("option '") + name +
                                          "' cannot stand beside --on, which measures nothing and needs no device");
    if (asked.count_seconds <= 0)
        throw Error(Blame::usage,
                    "option '--count-budget' is 0; beside --on it must be more, for a forecast rests on "
                    "what is counted");
    for (const auto& pattern : asked.patterns)
        if (names_records(pattern))
            throw Error(Blame::usage, "--on needs kernel files; found the records '" + pattern +
                                          "', which `cllab why` explains by the profile of their own device");
}

DeviceProfile read_profile(const std::string& path) {
    try {
        return profile_from(profile_text(path));
    } catch (const Error& e) {
        throw Error(e.blame(), "profile '" + path + "' " + e.what());
    }
}

Choice chosen(const WhyOptions& invocation) {
    auto choice = chosen_in_simulator(invocation);
    if (choice.own()) return choice;
    throw Error(Blame::usage, "--on needs kernel files; '" + invocation.patterns.front() +
                                  "' is the lab's own, and its sizes follow the device: `cllab run " +
                                  invocation.patterns.front() +
                                  " --json FILE.jsonl` there, and `cllab why FILE.jsonl` explains it anywhere");
}

/// What the buffers hold at the most, each as it is used.
model::WorkInfo every_buffer_once(model::Setup setup) {
    setup.work.assumed = true;
    setup.work.bytes = 0;
    for (const auto& argument : setup.args)
        setup.work.bytes += model::bytes_of(argument) * (std::holds_alternative<model::InOut>(argument) ? 2 : 1);
    return model::work_of(setup);
}

/// What a run there would record before it measures. `most`: every_buffer_once.
model::Record record_of(const model::Cell& cell, const model::Device& device, const run::Settings& settings,
                        model::WorkInfo& most) {
    model::Record out;
    out.id = cell.id;
    out.family = cell.experiment->family;
    out.variant = cell.variant->name;
    out.device.platform = device.platform;
    out.device.name = device.name;
    out.device.driver = device.driver;
    out.device.identity = device.identity;
    out.device.type = model::name(device.type);
    auto setup = model::set_up(*cell.experiment, {*cell.variant, cell.point, device, settings.seed, settings.files});
    out.point = setup.point.values();
    out.work = model::work_of(setup);
    most = every_buffer_once(std::move(setup));
    return out;
}

/// Prints it; false where there is none.
bool forecast_one(const model::Cell& cell, const DeviceProfile& on, const run::Settings& settings,
                  const CellCounts& counts, OutputFile* json, const report::TableStyle& style) {
    model::Record record;
    model::WorkInfo most;
    std::string why_not;
    try {
        record = record_of(cell, on.device, settings, most);
        counts.add_to(cell, record, why_not);
        if (why_not.empty() && record.work.launches != 1) why_not = "an operation has several launches";
    } catch (const Unsupported& e) {
        why_not = e.what();
    }
    if (!record.counts || !why_not.empty()) {
        say(cell.id + ": no forecast: " + why_not);
        return false;
    }
    const auto contradictions = explain::contradictions(record);
    record.work = most;
    auto forecast = explain::forecast(record, on.limits);
    forecast.contradictions = contradictions;
    if (json) json->line(report::forecast_json(record, forecast));
    if (json && json->is_stdout()) return true;
    results() << '\n' << report::forecast_text(record, forecast, style);
    results().flush();
    return true;
}

}  // namespace

int forecast_files(const WhyOptions& asked) {
    refuse_what_measures(asked);
    const auto simulator = find_oclgrind("cllab why --on");
    const auto on = read_profile(asked.on);
    use_oclgrind(simulator);  // which also says what arguments the kernels have
    auto invocation = asked;
    invocation.devices = {"oclgrind"};
    invocation.no_dumps = invocation.no_yardstick = true;
    Outputs outputs(invocation);
    outputs.reads_for(invocation);
    outputs.reads(asked.on);
    const auto choice = chosen(invocation);
    const auto request = request_of(choice, invocation);
    check_points(request, on.device);
    catch_interrupts();
    choice.say_defaults();
    outputs.open();
    auto* json = outputs.json();
    const report::TableStyle style{wants_colour(), page_width()};
    bool ok = true, begun = false;
    try {
        for (const auto& cell : request.comparisons | std::views::join) {
            auto one = request;
            one.comparisons = {{cell}};
            const CellCounts counts(one, asked.count_seconds, wave_of(on.limits), say_doing);
            say_doing("");
            if (!begun && !(json && json->is_stdout())) {
                model::Record of;
                of.device.name = on.device.name;
                results() << report::forecast_heading(of, on.limits, style);
            }
            begun = true;
            ok = forecast_one(cell, on, request.settings, counts, json, style) && ok;
        }
    } catch (const run::Interrupted&) {
        say_doing("");
        say("interrupted");
        return 130;
    }
    return ok ? 0 : 1;
}

}  // namespace cllab::app
