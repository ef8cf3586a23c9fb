// `cllab why`: what limits a kernel's time, by the peaks that the device's profile measured.

#include <algorithm>
#include <map>

#include "app/choose/choice.hpp"
#include "app/choose/request.hpp"
#include "app/commandline/groups.hpp"
#include "app/commands.hpp"
#include "app/commands/profile.hpp"
#include "app/comparing/measure.hpp"
#include "app/files/outputs.hpp"
#include "app/files/profile_file.hpp"
#include "app/processes/cell_counts.hpp"
#include "app/processes/runner.hpp"
#include "app/screen/streams.hpp"
#include "app/screen/timings.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "explain/amounts.hpp"
#include "explain/claim/claim.hpp"
#include "explain/limiter.hpp"
#include "explain/peaks.hpp"
#include "inspect/tools/tool.hpp"
#include "report/table/explanation.hpp"
#include "report/table/layout.hpp"

namespace cllab::app {
namespace {

/// What a record says of its device; what only a driver says is not known.
model::Device device_of(const model::Record& record) {
    model::Device out;
    out.selector = record.device.selector;
    out.platform = record.device.platform;
    out.name = record.device.name;
    out.vendor = record.device.vendor;
    out.driver = record.device.driver;
    out.identity = record.device.identity;
    out.last_level_bytes = record.device.last_level_bytes;
    out.compute_units = 0;
    for (const auto type : {model::DeviceType::cpu, model::DeviceType::gpu, model::DeviceType::accelerator})
        if (record.device.type == model::name(type)) out.type = type;
    return out;
}

/// The command that makes the profile that is missing, as it is typed.
std::string profile_command(const WhyOptions& invocation, const model::Device& device) {
    return "cllab profile --device " + device.selector +
           (invocation.dumps == "dumps" ? "" : " --dumps " + cllab::quoted(invocation.dumps));
}

/// What all cells of one command have in common.
struct Asked {
    const WhyOptions& options;
    run::RunRequest& request;
    Runner& runner;
    Sink& sink;
    report::TableStyle style;
    double count_seconds;  ///< for what explains a time; 0: nothing is counted for it

    bool by_ncu(const model::Device& device) const {
        return count_seconds > 0 && device.implementation == model::Implementation::nvidia &&
               inspect::find_tool({"ncu"});
    }
};

struct MeasuredCell {
    const model::Cell* cell;
    model::Record record;
    std::string not_counted;  ///< why; empty where it was, or nobody asked
};

/// Times the cells on one device, and adds what was counted of them. A profiler counts behind the last time, because
/// the next cell is measured while one is taken.
std::vector<MeasuredCell> measured(const Asked& asked, const model::Device& device, const CellCounts& counts) {
    std::vector<MeasuredCell> out;
    const bool by_ncu = asked.by_ncu(device);
    const auto take = [&](std::size_t group, std::size_t index, const model::Record& record) {
        auto& done = out.emplace_back(MeasuredCell{&asked.request.comparisons[group][index], record, ""});
        if (asked.count_seconds > 0) counts.add_to(*done.cell, done.record, done.not_counted);
        if (!by_ncu) asked.sink.take(done.record);
    };
    asked.runner.run(asked.request, device.selector,
                     {[&](std::size_t, std::size_t, const model::Record& record, const char* phase) {
                          say_doing(record.id + ": " + phase);
                      },
                      take});
    if (!by_ncu) return out;
    for (auto& done : out) {
        say_doing("counting " + done.record.id + " by ncu");
        const auto trouble = done.record.time ? count_by_ncu(*done.cell, device, asked.request.settings.seed,
                                                             asked.options.timeout_seconds, done.record)
                                              : std::string();
        if (!trouble.empty()) done.not_counted += (done.not_counted.empty() ? "" : "; ") + trouble;
        done.record.dump.clear();  // it was for that count
        asked.sink.take(done.record);
    }
    return out;
}

/// Explains and prints them. False where a cell failed.
bool explain_all(const Asked& asked, const model::Device& device, const std::vector<MeasuredCell>& done,
                 const CellCounts& counts) {
    const auto& limits = asked.request.settings.limits.at(device.selector);
    RunnerMeasure measure(asked.runner, asked.request.settings, device, say_doing);
    explain::Peaks peaks(measure, limits);
    bool ok = true;
    for (const auto& [cell, record, not_counted] : done) {
        auto explanation = peaks.explain(*cell, record);
        const auto second = peaks.second_time(*cell, record, explanation);
        const auto& explained = second ? *second : record;
        if (second) {
            asked.sink.take(*second);
            auto again = explain::still_used(std::move(explanation.again), peaks.limits());
            explanation = peaks.explain(*cell, *second);
            explanation.again.insert(explanation.again.begin(), again.begin(), again.end());
            explanation.first_seconds = record.time->median;
        }
        if (asked.options.test) explain::test_claim(measure, *cell, explained, peaks.limits(), explanation);
        explanation.advice = explain::advice(explained, explanation);
        explanation.contradictions = explain::contradictions(explained);
        if (!not_counted.empty()) explanation.unbounded.emplace_back("what it executes", not_counted);
        say_doing("");
        asked.sink.line(report::explanation_json(explained, explanation));
        ok = ok && !model::is_failure(record.status);
        if (asked.sink.uses_stdout()) continue;
        if (&record == &done.front().record) results() << report::explanation_heading(record, limits.utc, asked.style);
        results() << '\n' << report::explanation_text(explained, explanation, asked.style);
        results().flush();
    }
    if (done.size() == 2 && !asked.sink.uses_stdout()) {
        const auto &a = done[0].record, &b = done[1].record;
        const double as_long = a.time && b.time ? b.time->median / a.time->median : 1;
        const auto difference = counts.difference(*done[0].cell, *done[1].cell, as_long);
        if (!difference.empty()) results() << '\n' << report::fit(difference + "\n", asked.style.text_width());
    }
    return ok;
}

[[noreturn]] void no_profile(const WhyOptions& asked, const model::Device& device, const std::string& remedy) {
    throw Error(Blame::usage, "the profile of '" + excerpt(device.name) + "' is not at '" +
                                  profile_path(asked.dumps, device).string() +
                                  "', and without a profile there is no peak to compare with; " + remedy);
}

/// The profiles of the devices, without which there is no peak to compare with.
std::map<std::string, model::Limits> profiles_of(const WhyOptions& asked, const std::vector<model::Device>& devices) {
    auto out = read_profiles(asked.dumps, devices);
    for (const auto& device : devices)
        if (!out.count(device.selector))
            no_profile(asked, device, "`" + profile_command(asked, device) + "` makes it, --profile 60 does so here");
    return out;
}

/// Of the devices that have none, before this process has any driver: those of a profile are in its children.
void make_profiles(const WhyOptions& asked) {
    const auto devices = in_child_processes(asked.timeout_seconds)->devices(asked.devices);
    const auto known = read_profiles(asked.dumps, devices);
    for (const auto& device : devices) {
        if (known.count(device.selector)) continue;
        ProfileOptions missing;
        missing.devices = {device.selector};
        missing.budget_seconds = *asked.profile_seconds;
        missing.dumps = asked.dumps;
        missing.timeout_seconds = asked.timeout_seconds;
        missing.no_page = true;
        run_profile(missing);
    }
}

int run_why(const WhyOptions& asked) {
    if (!asked.on.empty()) return forecast_files(asked);
    if (std::ranges::any_of(asked.patterns, names_records)) return why_of_records(asked);
    const Timings timings;
    auto invocation = asked;
    invocation.no_dumps = invocation.no_yardstick = true;
    if (!invocation.hot_seconds) invocation.hot_seconds = 0.05;  // which code ran says how wide its vectors are
    Outputs outputs(invocation);
    outputs.reads_for(invocation);
    const Choice choice(invocation);
    auto request = request_of(choice, invocation);
    const bool is_pair = request.cells() == 2;  // its difference is told
    // Text that is not the lab's own may write anywhere and never end. The arrangements of a test are processes of
    // their own, and the simulator's processes begin without the drivers of this one.
    const bool isolate = !asked.cl_dir.empty() || choice.own() || asked.test || (is_pair && asked.count_seconds > 0);
    catch_interrupts();
    if (asked.profile_seconds) make_profiles(asked);
    GiveUp give_up;  // nothing is measured before it has one
    const auto runner = isolate ? in_child_processes(invocation.timeout_seconds)
                                : in_this_process(invocation.timeout_seconds, [&](model::Record& stuck) {
                                      if (give_up) give_up(stuck);
                                  });
    const auto devices = runner->devices(invocation.devices);
    for (const auto& device : devices) {
        outputs.reads(profile_path(invocation.dumps, device));
        check_points(request, device);
    }
    request.settings.core_models = true;
    request.settings.limits = profiles_of(invocation, devices);
    choice.say_defaults(request.left_out);
    outputs.open();
    Sink sink(outputs.json(), nullptr);
    give_up = [&](model::Record& stuck) { sink.take(stuck); };
    // Only the lab's own families declare all that they do.
    const Asked all{
        asked, request, *runner, sink, {wants_colour(), page_width()}, choice.own() ? asked.count_seconds : 0};
    const inspect::TempFolder binaries;
    if (std::any_of(devices.begin(), devices.end(), [&](const auto& device) { return all.by_ncu(device); }))
        request.settings.dumps = binaries.path();
    bool ok = true;
    try {
        for (const auto& device : devices) {
            const CellCounts counts(request, is_pair ? asked.count_seconds : all.count_seconds,
                                    wave_of(request.settings.limits.at(device.selector)), say_doing);
            ok = explain_all(all, device, measured(all, device, counts), counts) && ok;
        }
    } catch (const run::Interrupted&) {
        say_doing("");
        say("interrupted; " + std::to_string(sink.records().size()) + " finished cell(s) kept");
        return 130;
    }
    if (asked.timings) timings.print(phases_of(sink.records()));
    return ok ? 0 : 1;
}

Rows<WhyOptions> why_rows() {
    Rows<WhyOptions> rows;
    rows.with(choice_rows())
        .with(kernel_file_rows())
        .with(text_rows())
        .text("json", "FILE", &WhyOptions::json, "Writes the JSON record of each cell, and a line with its limiter.")
        .flag(
            "test", &WhyOptions::test,
            "Tests each named limiter by a change whose effect it predicts; withdraws a claim that fails. The change "
            "is another value of one axis, or half of the work-items. Both cells are compared over arrangements, as by "
            "`cllab run --vs`.")
        .text("dumps", "DIR", &WhyOptions::dumps, "Reads the profile from DIR/<device>/profile.json.")
        .number("profile", "SECONDS", any_seconds, &WhyOptions::profile_seconds, "",
                "Measures the profile of a device that has none within SECONDS, as `cllab profile` does, and keeps it.")
        .text("on", "PROFILE", &WhyOptions::on,
              "Forecasts the least time of a kernel file on the device of this profile.json, and what would limit it "
              "there. Nothing is measured, and no device is needed.")
        .number("count-budget", "SECONDS", {0, 3600, "seconds from 0 to 3600"}, &WhyOptions::count_seconds, "5",
                "Processor time for counting what a kernel of a file or each of two cells executes, in the simulator "
                "Oclgrind. 0 counts nothing. On NVIDIA, Nsight Compute counts one launch more.")
        .number("max-time", "SECONDS", any_seconds, &WhyOptions::sampling_seconds, "0.4",
                "Maximum sampling time per cell. Sampling stops early once the median is known to within 1 %.")
        .with(process_rows())
        .with(label_rows())
        .with(timings_rows())
        .with(replace_rows("--json"));
    return rows;
}

}  // namespace

bool names_records(const std::string& pattern) { return pattern.ends_with(".jsonl") || pattern.ends_with(".json"); }

int why_of_records(const WhyOptions& invocation) {
    if (invocation.test)
        throw Error(Blame::usage,
                    "option '--test' needs kernels to measure; found a file of records, which `why` explains as it is");
    if (const auto other = std::ranges::find_if_not(invocation.patterns, names_records);
        other != invocation.patterns.end())
        throw Error(Blame::usage, "records and kernels cannot stand in one `cllab why`; found '" + *other +
                                      "' beside a file of records");
    Outputs outputs(invocation);
    const auto joined = read_records(invocation.patterns);
    const auto& records = joined.records();
    if (records.empty()) throw Error(Blame::usage, "no record is in '", join(invocation.patterns, "', '"), "'");
    std::map<std::string, model::Limits> limits;  // by the device's key
    for (const auto& record : records) {
        const auto key = model::device_key(record);
        if (limits.count(key)) continue;
        const auto device = device_of(record);
        auto found = read_profiles(invocation.dumps, {device});
        if (found.empty()) no_profile(invocation, device, "--dumps says where it is");
        limits[key] = std::move(found.begin()->second);
    }
    outputs.open();
    auto* json = outputs.json();
    const report::TableStyle style{wants_colour(), page_width()};
    std::string device;
    for (const auto& record : records) {
        const auto key = model::device_key(record);
        const auto explanation = explain::explain(record, limits.at(key));
        if (json) json->line(report::explanation_json(record, explanation));
        if (json && json->is_stdout()) continue;
        if (key != device)
            results() << (device.empty() ? "" : "\n") << report::explanation_heading(record, limits.at(key).utc, style);
        device = key;
        results() << '\n' << report::explanation_text(record, explanation, style);
    }
    results().flush();
    return 0;
}

Command why_command() {
    return make_command<WhyOptions>(
        {"why", "PATTERN...", "the limiter of the time, by the device's measured peaks",
         "cllab why PATTERN|FILE... [--device D] [--test] [options]",
         "Names the limiter of each cell, or the share of the time that has no explanation. A bound is the shortest "
         "possible time for one resource: declared or counted work over the peak that `cllab profile` measured. The "
         "largest bound is the limiter if it is at least 80 % of the time, clear of the next, and the time is known "
         "within 10 %.\n\nA FILE is a kernel file (my.cl:kernel). What its `work` line does not declare is counted: by "
         "the simulator Oclgrind, and on NVIDIA by Nsight Compute. Of what is counted, 60 % of the time are enough: on "
         "NVIDIA where warps wait for it, on a CPU where four fifths of the samples lie in it. A CPU's loads and "
         "stores are named where nine tenths lie in them and nothing else that is known takes half of the time. With "
         "two cells, the last line says what they execute differently, and the lab's own are counted for it. "
         "FILE.jsonl is a file of records, explained without measuring. Counters of `cllab ncu` in the records replace "
         "the declared work.\n\nWork without a count or without a measured peak has no bound "
         "and is listed. The launch overhead adds to the kernel's own time, so these two may be named together.\n\nIf "
         "a cell beats a peak, or the peak explains only 40 to 80 % of its time, cllab measures the peak again beside "
         "the cell. The machine may have been busy during the profile, or be busy now. Both figures are "
         "printed.\n\nWith --on PROFILE.json nothing is measured: the kernels of a file are counted, and bounded by "
         "the peaks of a machine that may be elsewhere. Such a forecast is a lower bound. It is sure of what no "
         "compiler removes: different bytes, groups, atomics, barriers, the launch. Arithmetic, local memory and "
         "chains are as the text has them, and the page says so. Peaks that were measured beside other work make a "
         "forecast too long.\n\nWhere declared work and counts cannot both be true, a line names both figures.",
         "cllab why pitch_wide --device gpu\npitch_wide        552 us ±0.3 %  limited by memory bandwidth: 96 % of the "
         "time\n  96 %  memory bandwidth  532 us [531 us .. 535 us]  2.15 GB at 4.03 TB/s (copy bandwidth)\n  29 %  "
         "group dispatch    159 us [159 us .. 162 us]  262 kgroup at 1.65 Ggroup/s (group rate)"},
        why_rows(), [](WhyOptions& options) { need_pattern(options); }, run_why);
}

}  // namespace cllab::app
