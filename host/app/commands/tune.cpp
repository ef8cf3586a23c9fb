// `cllab tune`: launch parameters that do not affect the result, tried and verified; the best few are measured again
// side by side before a winner is named. Every batch runs in a child process: a candidate that crashes or hangs the
// driver costs only itself.
#include "app/commands/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "app/choose/request.hpp"
#include "app/commandline/groups.hpp"
#include "app/commands.hpp"
#include "app/files/profile_file.hpp"
#include "app/running/cross_check.hpp"
#include "app/screen/streams.hpp"
#include "app/screen/timings.hpp"
#include "core/grouped.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "model/params.hpp"
#include "model/work.hpp"
#include "report/table/layout.hpp"
#include "run/kernel_source.hpp"

namespace cllab::app {
namespace {

using model::Point;
using model::Record;

constexpr double screening_seconds = 0.1;  // of sampling: enough to find the best few, which are measured again
constexpr std::size_t first_points = 8;    // before anybody knows how long one takes
constexpr std::size_t most_unasked = 300;  // points that are measured where no budget is given

std::optional<double> time_of(const Record& record) {
    if (record.status != model::Status::ok || !record.time) return std::nullopt;
    return record.time->median;
}

model::Strategy strategy_of(const std::string& word) {
    using enum model::Strategy;
    return word == "all" ? all : word == "random" ? random : word == "local" ? local : automatic;
}

void check_tune(TuneOptions& options) {
    need_pattern(options);
    if (!options.resume.empty()) {
        if (!options.json.empty())
            throw Error(Blame::usage, "--resume FILE keeps its records in FILE, so it excludes --json");
        options.json = options.resume;
        options.append = true;
    }
    if (!options.max_time) return;
    options.sampling_seconds = *options.max_time;
    options.comparison_seconds = std::min(options.comparison_seconds, 25 * *options.max_time);
}

}  // namespace

void say_fitted(const std::string& lines) { results() << report::fit(lines, page_width()); }

Tuning::Tuning(const TuneContext& context, const model::Selected& variant, const model::TuneSpace& space,
               const model::Device& device)
    : context_(context),
      options_(context.options),
      variant_(variant),
      space_(space),
      device_(device),
      search_(
          space, [this](const Point& point) { return resolved(point); },
          [this](const std::vector<Point>& points) { return screen(points); },
          [this](std::size_t measured) { return room(measured); }, strategy_of(options_.strategy), options_.seed) {}

bool Tuning::run() {
    take_earlier();
    bool planned = false;
    try {
        search_.run();
        say_doing("");
        const auto found = search_.found();
        print_plan(found);
        planned = true;
        print_failures();
        if (found.ranked.empty())
            results() << "  no point has a time, so there is no winner\n";
        else
            judge(found);
    } catch (...) {
        say_doing("");
        if (!planned && search_.tried() > 0) print_plan(search_.found());
        if (const auto& best = search_.best())
            say_fitted("  the fastest so far, not yet held against any other: " + text_of(best->first) + "\n");
        throw;
    }
    print_failures();  // of the points that were held against each other once more
    return search_.best() && failures_.empty();
}

std::size_t Tuning::room(std::size_t measured) const {
    if (!options_.budget && options_.strategy == "all") return std::numeric_limits<std::size_t>::max();
    if (!options_.budget) return most_unasked - std::min(most_unasked, measured);
    if (measured == 0) return first_points;
    const double spent = seconds_since(start_), left = *options_.budget - spent;
    return left > 0 ? static_cast<std::size_t>(left * static_cast<double>(measured) / spent) : 0;
}

/// What the point becomes on the device; nothing when the device cannot do it.
std::optional<Point> Tuning::resolved(const Point& point) const {
    try {
        return model::resolve(*variant_.experiment,
                              {*variant_.variant, point, device_, options_.seed, model::no_files});
    } catch (const Unsupported&) {
        return std::nullopt;
    }
}

model::Cell Tuning::cell_at(const Point& point) const {
    return {variant_.experiment, variant_.variant, variant_.id, point, text_of(point)};
}

run::Settings Tuning::settings() const {
    auto out = settings_of(options_);
    out.sampling_seconds = options_.sampling_seconds;
    out.limits = context_.limits;
    return out;
}

std::vector<Record> Tuning::measure(const std::vector<Point>& points, const run::Settings& settings) {
    auto group = mapped(points, [&](const Point& point) { return cell_at(point); });
    ask_reference_command(options_, context_.choice, {group}, device_, true);
    std::vector<Record> out(points.size());
    context_.runner.run({std::nullopt, {std::move(group)}, settings}, device_.selector,
                        {[&](std::size_t, std::size_t index, const Record&, const char*) {
                             say_doing(doing() + ", now " + text_of(points[index]));
                         },
                         [&](std::size_t, std::size_t index, const Record& record) {
                             out.at(index) = record;
                             context_.sink.take(record);
                             fail(points[index], record);
                         }});
    return out;
}

/// Nobody looks at the code before the finals.
std::vector<std::optional<double>> Tuning::screen(const std::vector<Point>& points) {
    auto quick = settings();
    quick.sampling_seconds = std::min(screening_seconds, quick.sampling_seconds);
    quick.read_code = false;
    quick.goes_on = true;  // the device is known by the batch before
    return mapped(measure(points, quick), time_of);
}

void Tuning::fail(const Point& point, const Record& record) {
    if (record.status == model::Status::unsupported) ++unsupported_;
    if (model::is_failure(record.status)) failures_[text_of(point)] = record.reason;
}

void Tuning::take_earlier() {
    for (const auto& record : context_.earlier) {
        Point point;
        for (const auto& [axis, value] : record.point) point.set(axis, value);
        if (record.id != variant_.id || !is_same_now(record, point)) continue;
        if (search_.know(point, time_of(record))) fail(point, record);
    }
}

bool Tuning::is_same_now(const Record& record, const Point& point) const {
    constexpr std::uint64_t seed = 1;  // of a launch's identity
    Record now;
    now.device = run::device_info(device_);
    now.host = run::this_host();
    if (model::device_key(record) != model::device_key(now) || !record.build.elsewhere.empty()) return false;
    try {
        const auto setup =
            model::set_up(*variant_.experiment, {*variant_.variant, point, device_, seed, model::no_files});
        const auto text = run::build_text(cell_at(point), setup, device_, settings());
        const auto contents = variant_.variant->own ? model::Contents::taken : model::Contents::left_out;
        return text.options == record.build.options && sha256_hex(text.text) == record.build.source_sha256 &&
               model::launch_identity(setup, contents) == record.launch;
    } catch (const std::runtime_error&) {  // Unsupported, or an axis that is no more
        return false;
    }
}

/// "local=64x4 planes=16": the tuned axes, which are the ones that vary.
std::string Tuning::text_of(const Point& point) const {
    return join(space_.tuned, " ", [&](const auto& axis) { return axis + "=" + point.text(axis); });
}

std::string Tuning::doing() const {
    auto out = fmt::format("{}: {} tried", variant_.id, search_.tried());
    if (const auto& best = search_.best())
        out += fmt::format(", {} by {}", format_seconds(best->second), text_of(best->first));
    return out;
}

void Tuning::print_plan(const model::Screening& found) const {
    const double points = model::points_of(space_.axes);
    std::string out = fmt::format("{} on '{}': {:.0f} points of {}", variant_.id, printable(device_.name), points,
                                  join(space_.tuned, ", "));
    if (space_.all && static_cast<double>(space_.all->size()) < points)
        out += fmt::format(", {:.0f} left out by 'where'", points - static_cast<double>(space_.all->size()));
    if (found.possible && found.possible != space_.all->size())
        out += fmt::format(", {} distinct and possible on this device", *found.possible);
    if (found.is_exhaustive()) {
        out +=
            static_cast<double>(found.tried) == points ? "\n  all tried" : fmt::format("\n  all {} tried", found.tried);
    } else {
        const bool climbs = options_.strategy == "auto" || options_.strategy == "local";
        out += fmt::format("\n  {} tried{}: {}", found.tried,
                           options_.budget ? fmt::format(" in {:.3g} s (--budget)", *options_.budget) : "",
                           climbs ? "some at random, then one axis at a time from the fastest" : "at random");
        out += found.possible ? fmt::format("; the other {} were not", *found.possible - found.tried)
                              : "; the others were not";
    }
    if (found.known > 0) out += fmt::format("; {} of them earlier ({})", found.known, printable(options_.resume));
    out += fmt::format("; {} have a time", found.ranked.size());
    if (unsupported_ > 0) out += fmt::format(", {} the device cannot do", unsupported_);
    if (!space_.has_default)
        out += "\n  the default breaks a line 'where'; " + text_of(space_.initial) + " stands for it";
    say_fitted(out + "\n");
}

void Tuning::print_failures() {
    for (const auto& [point, reason] : failures_)
        if (told_.insert(point).second)
            say_fitted(fmt::format("  failed at {}: {}\n", printable(point), printable(reason)));
}

int tune(const TuneOptions& asked, Runner& runner) {
    const Timings timings;
    auto invocation = asked;
    const Choice choice(invocation);
    const auto selected = choice.selected();
    // What cannot be tuned is the command line's fault, and said before the first build.
    std::vector<model::TuneSpace> spaces;
    for (const auto& s : selected) {
        const auto& space = spaces.emplace_back(model::tune_space(s, invocation.axes));
        if (!space.all && invocation.strategy == "all" && !invocation.budget)
            throw Error(Blame::usage, "'", s.id, "' has more than ", model::most_points,
                        " points; with --strategy all, --budget says how long they may take");
    }
    Outputs outputs(invocation);
    outputs.reads_for(invocation);
    catch_interrupts();
    const auto devices = runner.devices(invocation.devices);
    for (const auto& device : devices) outputs.reads(profile_path(invocation.dumps, device));
    choice.say_defaults();
    const auto limits = read_profiles(invocation.dumps, devices);
    outputs.open();
    // Not before: an output is no input, but for this one, which is added to.
    const auto earlier =
        invocation.resume.empty() ? std::vector<model::Record>{} : read_records({invocation.resume}).records();
    Sink sink(outputs.json(), outputs.csv());
    const TuneContext context{invocation, choice, runner, limits, earlier, sink};
    if (invocation.budget) *invocation.budget /= static_cast<double>(devices.size() * selected.size());
    bool fine = true;
    try {
        for (const auto& device : devices)
            for (std::size_t i = 0; i < selected.size(); ++i)
                fine = Tuning(context, selected[i], spaces[i], device).run() && fine;
    } catch (const run::Interrupted&) {
        say("interrupted; " + std::to_string(sink.records().size()) + " measured point(s) kept");
        return 130;
    }
    if (invocation.timings) timings.print(phases_of(sink.records()));
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
        .with(timings_rows())
        .number("budget", "SECONDS", any_seconds, &TuneOptions::budget, "",
                "Ends the search after about SECONDS, of which several variants and devices get equal parts. The "
                "comparisons of the fastest follow. Default: up to 300 points of each variant are measured.")
        .word(
            "strategy", "WHICH", {"auto", "all", "random", "local"}, &TuneOptions::strategy,
            "Chooses which points are measured. `all`: every point, in random order. `random`: points drawn at random. "
            "`local`: some drawn at random, then one axis at a time from the fastest; where no axis gains 1 %, it "
            "begins anew with two axes of the fastest changed. `auto`: all where there is time for all, else local. "
            "The page counts the points that were not tried.")
        .text("resume", "FILE", &TuneOptions::resume,
              "Adds its records to FILE, and does not measure again what FILE has of the same text, options, launch "
              "and device. The best few are measured again in any case.")
        .number("max-time", "SECONDS", any_seconds, &TuneOptions::max_time, "0.4",
                "Maximum sampling time per point. A comparison of two points may take 25 times as long.")
        .with(replace_rows("--json or --csv"));
    return make_command<TuneOptions>(
        manual_of("tune", "PATTERN...", "try launch parameters, name the fastest", "cllab tune PATTERN... [options]"),
        rows, check_tune, [](const TuneOptions& invocation) {
            return tune(invocation, *in_child_processes(invocation.timeout_seconds));
        });
}

}  // namespace cllab::app
