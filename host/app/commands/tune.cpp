// `cllab tune`: launch parameters that do not affect the result, tried and verified; the best few are measured again
// side by side before a winner is named. Every batch runs in a child process: a candidate that crashes or hangs the
// driver costs only itself.
#include "app/commands/tune.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "app/choose/choice.hpp"
#include "app/choose/request.hpp"
#include "app/commandline/groups.hpp"
#include "app/commands.hpp"
#include "app/comparing/versus.hpp"
#include "app/files/profile_file.hpp"
#include "app/files/sink.hpp"
#include "app/running/opinions.hpp"
#include "app/screen/streams.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "model/params.hpp"
#include "model/rankable.hpp"
#include "model/registry.hpp"
#include "model/tune.hpp"
#include "model/warning.hpp"
#include "report/table/comparison.hpp"
#include "report/table/layout.hpp"

namespace cllab::app {
namespace {

using model::Point;
using model::Record;

constexpr std::size_t finalists = 5;
constexpr double screening_seconds = 0.1;  // of sampling: enough to find the best few, which are measured again

class Tuning {
public:
    Tuning(const TuneOptions& invocation, const Choice& choice, Runner& runner, const model::Selected& variant,
           const model::Device& device, const std::map<std::string, model::Limits>& limits, Sink& sink)
        : invocation_(invocation),
          choice_(choice),
          runner_(runner),
          variant_(variant),
          device_(device),
          limits_(limits),
          sink_(sink),
          space_(model::tune_space(variant, invocation.axes)) {}

    /// False when no point has a time, or a point was wrong.
    bool run() {
        const auto screening = model::screen(
            space_, [&](const Point& point) { return resolved(point); },
            [&](const std::vector<Point>& points) {
                std::vector<std::optional<double>> out;
                for (const auto& record : measure(points, std::min(screening_seconds, invocation_.sampling_seconds)))
                    out.push_back(seconds(record));
                return out;
            },
            invocation_.seed);
        say_doing("");
        print_plan(screening);
        if (screening.ranked.empty()) {
            results() << "  no point has a time, so there is no winner\n";
            print_failures();
            return false;
        }
        judge(finalists_of(screening), screening);
        print_failures();
        return failures_.empty();
    }

private:
    static std::optional<double> seconds(const Record& record) {
        if (record.status != model::Status::ok || !record.time) return std::nullopt;
        return record.time->median;
    }

    /// What the point becomes on the device; nothing when the device cannot do it.
    std::optional<Point> resolved(const Point& point) const {
        try {
            return model::resolve(*variant_.experiment,
                                  {*variant_.variant, point, device_, invocation_.seed, model::no_files});
        } catch (const Unsupported&) {
            return std::nullopt;
        }
    }

    model::Cell cell_at(const Point& point) const {
        return {variant_.experiment, variant_.variant, variant_.id, point, text_of(point)};
    }

    run::Settings settings_for(double sampling_seconds) const {
        auto out = settings_of(invocation_);
        out.sampling_seconds = sampling_seconds;
        out.limits = limits_;
        return out;
    }

    /// One record per point, in order: one comparison, interleaved by the executor.
    std::vector<Record> measure(const std::vector<Point>& points, double sampling_seconds) {
        model::Group group;
        for (const auto& point : points) group.push_back(cell_at(point));
        ask_reference_command(invocation_, choice_, {group}, device_, true);
        std::vector<Record> out(points.size());
        runner_.run(
            {std::nullopt, {std::move(group)}, settings_for(sampling_seconds)}, device_.selector,
            {[&](std::size_t, std::size_t index, const Record&, const char*) {
                 say_doing(variant_.id + ": " + std::to_string(measured_) + " measured, now " + text_of(points[index]));
             },
             [&](std::size_t, std::size_t index, const Record& record) {
                 out.at(index) = record;
                 sink_.take(record);
                 if (record.status == model::Status::unsupported) ++unsupported_;
                 if (model::is_failure(record.status)) failures_[text_of(points[index])] = record.reason;
             }});
        measured_ += points.size();
        return out;
    }

    /// The point that `run` would take and the fastest few others.
    std::vector<Point> finalists_of(const model::Screening& screening) const {
        std::vector<Point> out;
        for (const auto& [point, time] : screening.ranked)
            if (point == space_.initial) out.push_back(point);
        for (const auto& [point, time] : screening.ranked)
            if (point != space_.initial && out.size() <= finalists) out.push_back(point);
        return out;
    }

    void judge(const std::vector<Point>& points, const model::Screening& screening) {
        const auto records = measure(points, invocation_.sampling_seconds);
        say_doing("");
        std::vector<std::size_t> order;
        const Record* initial = nullptr;
        for (std::size_t n = 0; n < points.size(); ++n) {
            if (!seconds(records[n]) || !records[n].time->has_interval()) continue;
            order.push_back(n);
            if (points[n] == space_.initial) initial = &records[n];
        }
        if (order.empty()) {
            say_fitted("  none of the best few had a time of " + std::to_string(least_for_interval) +
                       " samples (--max-time) when measured again, so there is no winner\n");
            return;
        }
        std::ranges::sort(order,
                          [&](std::size_t a, std::size_t b) { return *seconds(records[a]) < *seconds(records[b]); });
        std::size_t width = 0;
        for (const auto n : order) width = std::max(width, text_of(points[n]).size());
        results() << "  the fastest few, measured again in turns:\n";
        std::string lines;
        for (const auto n : order) {
            const auto& time = *records[n].time;
            const auto screened =
                std::ranges::find_if(screening.ranked, [&](const auto& r) { return r.first == points[n]; });
            lines += fmt::format("    {:<{}}  {:>8} [{}, {}], first {}{}\n", text_of(points[n]), width,
                                 format_seconds(time.median), format_seconds(time.low), format_seconds(time.high),
                                 format_seconds(screened->second),
                                 std::string(points[n] == space_.initial ? ", the default" : "") +
                                     (model::had_its_cores(records[n]) ? "" : ", others had its cores"));
        }
        say_fitted(lines);
        for (const auto& warning : records[order.front()].warnings) {
            if (model::is(warning, model::Warning::beyond_peak)) say_fitted("  " + printable(warning) + "\n");
        }
        const auto chosen = choose(points[order.front()], records[order.front()], initial);
        results() << "  cllab run " << name_of_variant() << " --device " << device_.selector << axis_options(chosen)
                  << '\n';
    }

    /// The fastest point where it beats the default over arrangements, else the default: the fastest of many is always
    /// fast by some luck.
    Point choose(const Point& fastest, const Record& record, const Record* initial) {
        if (fastest == space_.initial) {
            results() << "  no point was faster than the default\n";
            return fastest;
        }
        if (!initial) {
            say_fitted(fmt::format("  the default has no time; the fastest is {}\n", text_of(fastest)));
            return fastest;
        }
        auto comparison = compare_cells(runner_, settings_for(invocation_.sampling_seconds), device_.selector,
                                        {cell_at(fastest), cell_at(space_.initial)}, record, *initial,
                                        invocation_.comparison_seconds, [](const model::Comparison&) {});
        comparison.left = text_of(fastest);
        comparison.right = "the default";
        sink_.take(comparison);
        say_fitted("  " + report::comparison_text(comparison));
        if (comparison.judgement.verdict == model::Verdict::faster) return fastest;
        results() << "  no point is faster than the default beyond the control\n";
        return space_.initial;
    }

    /// "local=64x4 planes=16": the tuned axes, which are the ones that vary.
    std::string text_of(const Point& point) const {
        return join(space_.tuned, " ", [&](const auto& axis) { return axis + "=" + point.text(axis); });
    }

    /// As `cllab run` takes it.
    std::string name_of_variant() const {
        const auto& variant = *variant_.variant;
        return variant.own ? variant.own->path + ":" + variant.name : variant_.id;
    }

    /// Every axis that differs from the family's default.
    std::string axis_options(const Point& point) const {
        std::string out;
        const auto defaults = model::axes_of(*variant_.experiment, *variant_.variant);
        for (const auto& axis : space_.axes) {
            const auto own = std::ranges::find(defaults, axis.name, &model::Axis::name);
            const std::vector<std::string> automatic{"auto"};  // of an axis on request
            const auto& value = point.text(axis.name);
            if ((own == defaults.end() ? automatic : own->values) != std::vector{value})
                out += " --axis " + axis.name + "=" + value;
        }
        return out;
    }

    void print_plan(const model::Screening& screening) const {
        std::string out = fmt::format("{} on '{}': {:.0f} points of {}", variant_.id, printable(device_.name),
                                      space_.points(), join(space_.tuned, ", "));
        if (!screening.exhaustive)
            out += fmt::format(
                "\n  {} tried: {} drawn at random, then one axis at a time from the fastest, until no axis gains 1 %",
                screening.tried, model::random_starts);
        else if (static_cast<double>(screening.tried) == space_.points())
            out += "\n  all tried";
        else
            out += fmt::format(", {} distinct and possible on this device\n  all {} tried", screening.tried,
                               screening.tried);
        out += fmt::format("; {} have a time", screening.ranked.size());
        if (unsupported_ > 0) out += fmt::format(", {} the device cannot do", unsupported_);
        say_fitted(out + "\n");
    }

    void print_failures() const {
        for (const auto& [point, reason] : failures_)
            say_fitted(fmt::format("  failed at {}: {}\n", printable(point), printable(reason)));
    }

    /// Sentences and rows; a command to be copied is printed as it is.
    static void say_fitted(const std::string& lines) { results() << report::fit(lines, page_width(STDOUT_FILENO)); }

    const TuneOptions& invocation_;
    const Choice& choice_;
    Runner& runner_;
    const model::Selected& variant_;
    const model::Device& device_;
    const std::map<std::string, model::Limits>& limits_;
    Sink& sink_;
    model::TuneSpace space_;
    std::size_t measured_ = 0, unsupported_ = 0;
    std::map<std::string, std::string> failures_;  // the reason by point
};

void check_tune(TuneOptions& options) {
    need_pattern(options, "tune", "a PATTERN, e.g. 'pitch_*'; `cllab list` shows what there is");
    if (!options.max_time) return;
    options.sampling_seconds = *options.max_time;
    options.comparison_seconds = std::min(options.comparison_seconds, 25 * *options.max_time);
}

}  // namespace

int tune(const TuneOptions& asked, Runner& runner) {
    auto invocation = asked;
    const OpinionsFolder opinions(invocation);
    const Choice choice(invocation);
    const auto selected = choice.selected();
    // What cannot be tuned is the command line's fault, and said before the first build.
    for (const auto& s : selected) model::tune_space(s, invocation.axes);
    Outputs outputs(invocation);
    outputs.reads_for(invocation);
    catch_interrupts();
    const auto devices = runner.devices(invocation.devices);
    for (const auto& device : devices) outputs.reads(profile_path(invocation.dumps, device));
    choice.say_defaults();
    const auto limits = read_profiles(invocation.dumps, devices);
    outputs.open();
    Sink sink(outputs.json(), outputs.csv());
    bool fine = true;
    try {
        for (const auto& device : devices) {
            for (const auto& s : selected)
                fine = Tuning(invocation, choice, runner, s, device, limits, sink).run() && fine;
        }
    } catch (const run::Interrupted&) {
        say("interrupted; " + std::to_string(sink.records().size()) + " measured point(s) kept");
        return 130;
    }
    return fine ? 0 : 1;
}

Command tune_command() {
    Rows<TuneOptions> rows;
    rows.with(choice_rows())
        .with(kernel_file_rows())
        .with(reference_command_rows())
        .with(text_rows())
        .text("json", "FILE", &TuneOptions::json, "Writes one JSON record per cell, as soon as the cell is done.")
        .text("csv", "FILE", &TuneOptions::csv, "Writes one CSV line per cell, as soon as the cell is done.")
        .with(process_rows())
        .with(label_rows())
        .number("max-time", "SECONDS", any_seconds, &TuneOptions::max_time, "0.4",
                "Maximum sampling time per point. The comparison with the default may take 25 times as long.")
        .with(replace_rows("--json or --csv"));
    return make_command<TuneOptions>(
        {"tune", "PATTERN...", "try launch parameters, name the fastest", "cllab tune PATTERN... [options]",
         "Tries launch parameters that do not affect the result, such as the work-group's shape, and names the fastest "
         "point of each variant. --axis lists the candidates of a tunable axis and fixes any other axis. Of a kernel "
         "file without an axis marked tune, work-groups are tried where neither the file nor the kernel says "
         "which one it is: powers of two from 32 to 4096 work-items, as far as the device and the sizes allow.\n\nUp "
         "to 300 distinct combinations are all tried. From more, 48 are drawn at random, and the search continues from "
         "the "
         "fastest, one axis at a time. Each point is verified. The best few and the default are measured again in "
         "turns. The page then names the winner with the command that reproduces it.",
         "cllab tune himeno_wide --device gpu --axis size=M --axis local=32x4,64x4,128x2"},
        rows, check_tune, [](const TuneOptions& invocation) {
            return tune(invocation, *in_child_processes(invocation.timeout_seconds));
        });
}

}  // namespace cllab::app
