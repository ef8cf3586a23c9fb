// `cllab why`: what limits a kernel's time, by the peaks that the device's profile measured.
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "app/choose/choice.hpp"
#include "app/choose/request.hpp"
#include "app/commandline/groups.hpp"
#include "app/commands.hpp"
#include "app/comparing/measure.hpp"
#include "app/files/outputs.hpp"
#include "app/files/profile_file.hpp"
#include "app/files/sink.hpp"
#include "app/files/why_records.hpp"
#include "app/processes/cell_counts.hpp"
#include "app/processes/runner.hpp"
#include "app/screen/say.hpp"
#include "app/screen/stdout_guard.hpp"
#include "app/screen/streams.hpp"
#include "core/text.hpp"
#include "explain/claim_test.hpp"
#include "explain/counted.hpp"
#include "explain/doubt.hpp"
#include "explain/peaks.hpp"
#include "report/table/explanation.hpp"

namespace cllab::app {
namespace {

/// The command that makes the profile that is missing, as it is typed.
std::string profile_command(const WhyOptions& invocation, const model::Device& device) {
    return "cllab profile --device " + device.selector +
           (invocation.dumps == "dumps" ? "" : " --dumps " + cllab::quoted(invocation.dumps));
}

int run_why(const WhyOptions& asked) {
    if (std::any_of(asked.patterns.begin(), asked.patterns.end(), names_records)) return why_of_records(asked);
    auto invocation = asked;
    invocation.no_dumps = invocation.no_yardstick = true;
    if (!invocation.hot_seconds) invocation.hot_seconds = 0.05;  // which code ran says how wide its vectors are
    Outputs outputs(invocation);
    outputs.reads_for(invocation);
    const Choice choice(invocation);
    // Text that is not the lab's own may write anywhere and never end.
    // So are the arrangements of a test processes of their own.
    const bool isolate = !asked.cl_dir.empty() || choice.own() || asked.test;
    auto request = request_of(choice, invocation);
    catch_interrupts();
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
    request.settings.limits = read_profiles(invocation.dumps, devices);
    for (const auto& device : devices)
        if (!request.settings.limits.count(device.selector))
            throw Error(Blame::usage, "the profile of '" + excerpt(device.name) + "' is not at '" +
                                          profile_path(invocation.dumps, device).string() +
                                          "', and without a profile there is no peak to compare with; `" +
                                          profile_command(invocation, device) + "` makes it");
    choice.say_defaults();
    outputs.open();
    // Only the lab's own families declare all that they do.
    const double count_seconds = choice.own() ? asked.count_seconds : 0;
    const inspect::TempFolder binaries;
    const auto counts_by_ncu = [&](const model::Device& device) {
        return count_seconds > 0 && device.implementation == model::Implementation::nvidia &&
               inspect::find_tool({"ncu"});
    };
    if (std::ranges::any_of(devices, counts_by_ncu)) request.settings.dumps = binaries.path();
    Sink sink(outputs.json(), nullptr);
    give_up = [&](model::Record& stuck) { sink.take(stuck); };
    const report::TableStyle style{wants_colour(STDOUT_FILENO), page_width(STDOUT_FILENO)};
    const bool terminal = takes_escapes(STDERR_FILENO);
    const auto clear = [&] {
        if (terminal) std::fputs("\r\033[K", stderr);
    };
    const auto show = [&](const std::string& doing) {
        if (!terminal) return;
        std::fprintf(stderr, "\r\033[K%s", printable(doing).c_str());
        std::fflush(stderr);
    };
    const auto& plan = request.comparisons;
    bool failed = false;
    try {
        const CellCounts counts(request, count_seconds, show);
        for (const auto& device : devices) {
            struct Done {
                const model::Cell* cell;
                model::Record record;
                std::string not_counted;
            };
            std::vector<Done> done;
            runner->run(request, device.selector,
                        {[&](std::size_t, std::size_t, const model::Record& record, const char* phase) {
                             show(record.id + ": " + phase);
                         },
                         [&](std::size_t group, std::size_t index, const model::Record& record) {
                             done.push_back({&plan[group][index], record, ""});
                             auto& kept = done.back();
                             counts.add_to(*kept.cell, kept.record, kept.not_counted);
                             if (kept.record.time && counts_by_ncu(device))
                                 if (const auto trouble = count_by_ncu(*kept.cell, device, request.settings.seed,
                                                                       asked.timeout_seconds, kept.record);
                                     !trouble.empty())
                                     kept.not_counted = trouble;
                             kept.record.dump.clear();  // it was for that count
                             sink.take(kept.record);
                         }});
            const auto& limits = request.settings.limits.at(device.selector);
            RunnerMeasure measure(*runner, request.settings, device, show);
            explain::Peaks peaks(measure, limits);
            for (const auto& [cell, record, not_counted] : done) {
                auto explanation = peaks.explain(*cell, record);
                const auto second = peaks.second_time(*cell, record, explanation.limit);
                const auto& explained = second ? *second : record;
                if (second) {
                    sink.take(*second);
                    auto again = explain::still_used(std::move(explanation.again), peaks.limits());
                    explanation = peaks.explain(*cell, *second);
                    explanation.again.insert(explanation.again.begin(), again.begin(), again.end());
                    explanation.first_seconds = record.time->median;
                }
                if (invocation.test) explain::test_claim(measure, *cell, explained, peaks.limits(), explanation);
                explanation.advice = explain::advice(explained, explanation);
                if (!not_counted.empty()) explanation.unbounded.emplace_back("what is executed", not_counted);
                clear();
                sink.line(report::explanation_json(explained, explanation));
                failed = failed || model::is_failure(record.status);
                if (sink.uses_stdout()) continue;
                if (&record == &done.front().record)
                    results() << report::explanation_heading(record, limits.utc, style);
                results() << '\n' << report::explanation_text(explained, explanation, style);
                results().flush();
            }
        }
    } catch (const run::Interrupted&) {
        clear();
        say("interrupted; " + std::to_string(sink.records().size()) + " finished cell(s) kept");
        return 130;
    }
    return failed ? 1 : 0;
}

Rows<WhyOptions> why_rows() {
    Rows<WhyOptions> rows;
    rows.with(pager_rows())
        .with(choice_rows())
        .with(kernel_file_rows())
        .with(text_rows())
        .text("json", "FILE", &WhyOptions::json, "Writes the JSON record of each cell, and a line with its limiter.")
        .flag("test", &WhyOptions::test,
              "Tests each named limiter by a change whose effect it predicts; withdraws a claim that fails. The change "
              "is one of: another value of one axis, half of the work-items, extra multiply-adds, or on NVIDIA fewer "
              "resident groups. Both cells are compared over arrangements, as by `cllab run --vs`.")
        .text("dumps", "DIR", &WhyOptions::dumps, "Reads the profile from DIR/<device>/profile.json.")
        .number("count-budget", "SECONDS", any_seconds, &WhyOptions::count_seconds, "5",
                "Processor time for counting what a kernel of a file executes, in the simulator Oclgrind. 0 counts "
                "nothing. On NVIDIA, Nsight Compute counts one launch more.")
        .number("max-time", "SECONDS", any_seconds, &WhyOptions::sampling_seconds, "0.4",
                "Maximum sampling time per cell. Sampling stops early once the median is known to within 1 %.")
        .with(process_rows())
        .with(label_rows())
        .with(replace_rows("--json"));
    return rows;
}

}  // namespace

Command why_command() {
    return make_command<WhyOptions>(
        {"why", "PATTERN...", "the limiter of the time, by the device's measured peaks",
         "cllab why PATTERN|FILE... [--device D] [--test] [options]",
         "Names the limiter of each cell, or the share of the time that has no explanation. A bound is the shortest "
         "possible time for one resource: declared work divided by the peak that `cllab profile` measured. The largest "
         "bound is the limiter if it is at least 80 % of the time, clear of the next, and the time is known within 10 "
         "%.\n\nWork without a count or without a measured peak has no bound and is listed. The launch overhead adds "
         "to the kernel's own time, so these two may be named together.\n\nIf a cell beats a peak, or the peak "
         "explains only 40 to 80 % of its time, cllab measures the peak again beside the cell. The machine may have "
         "been busy during the profile, or be busy now. Both figures are printed.\n\nA FILE is a kernel file "
         "(my.cl:kernel), whose `work` line declares its work, or a file of records, FILE.jsonl, explained without "
         "measuring. Counters of `cllab ncu` in the records replace the declared work.",
         "cllab why pitch_wide --device gpu\npitch_wide        552 us ±0.3 %  limited by memory bandwidth: 96 % of the "
         "time\n  96 %  memory bandwidth  532 us [531 us .. 535 us]  2.15 GB at 4.03 TB/s (copy bandwidth)\n  29 %  "
         "group dispatch    159 us [159 us .. 162 us]  262 kgroup at 1.65 Ggroup/s (group rate)"},
        why_rows(),
        [](WhyOptions& options) {
            need_pattern(options, "why", "a PATTERN, e.g. 'pitch_*'; `cllab list` shows what there is");
        },
        run_why);
}

}  // namespace cllab::app
