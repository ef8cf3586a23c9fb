// `cllab tune`: tries and verifies launch parameters that do not affect the result. The best few are measured again and
// compared before a winner is named. Every batch runs in a child process, so a candidate that crashes or hangs the
// driver loses only its own result.
#include "app/commands/tune.hpp"

#include <cmath>
#include <ranges>

#include "app/commands/command_file.hpp"
#include "app/comparing/versus.hpp"
#include "app/files/behaviour_file.hpp"
#include "app/running/cross_check.hpp"
#include "app/screen/results.hpp"
#include "core/hash.hpp"
#include "core/phases.hpp"
#include "model/params.hpp"
#include "model/result.hpp"
#include "model/warning.hpp"
#include "model/work.hpp"
#include "report/table/comparison.hpp"
#include "report/table/verdict.hpp"
#include "run/kernel_source.hpp"

namespace cllab::app {
namespace {

using model::Point;
using model::Record;

constexpr double screening_seconds = 0.1;  // sampling per point: enough to find the best few
constexpr std::size_t first_points = 8;    // first batch, before the time per point is known
constexpr std::size_t most_unasked = 300;  // maximum number of points without --budget or `all`

std::optional<double> time_of(const Record& record) {
    return record.status == model::Status::ok && record.time ? std::optional(record.time->median) : std::nullopt;
}

model::Strategy strategy_of(const std::string& word) {
    using enum model::Strategy;
    return word == "all" ? all : word == "random" ? random : word == "model" ? model : automatic;
}

void check_tune(TuneOptions& options) {
    need_pattern(options);
    if (!options.resume.empty()) {
        if (!options.json.empty())
            throw Error(Blame::usage, "--resume FILE writes the records to FILE, so it cannot be combined with --json");
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
          [this](std::size_t measured) { return room(measured); }, strategy_of(options_.strategy), options_.seed,
          device.is_gpu() ? most_unasked : model::most_beside) {}  // on a GPU, a process start costs 50 points

bool Tuning::run() {
    take_earlier();
    bool planned = false;
    try {
        search_.run();
        say_doing("");
        const auto found = search_.found();
        print_plan(found);
        planned = true;
        if (interrupted_) throw run::Interrupted{};
        print_failures();
        judge(found);
    } catch (...) {
        say_doing("");
        if (!planned && search_.tried() > 0) print_plan(search_.found());
        print_so_far(search_.found());
        throw;
    }
    print_failures();  // of finalists that failed in the comparison
    return search_.best() && failures_.empty();
}

std::size_t Tuning::room(std::size_t measured) const {
    if (interrupted_) return 0;
    std::size_t most =
        options_.points.value_or(options_.budget || options_.strategy == "all" ? model::most_points : most_unasked);
    most -= std::min(most, measured);
    if (!options_.budget || most == 0) return most;
    if (measured == 0) return std::min(most, first_points);
    const double spent = seconds_since(start_), left = *options_.budget - spent;
    return left > 0 ? std::min(most, static_cast<std::size_t>(left * static_cast<double>(measured) / spent)) : 0;
}

/// The point as the device resolves it; nullopt if the device does not support it.
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
    out.continues_run = true;  // the device's state is known from earlier batches
    out.limits = context_.limits;
    out.largest_groups = context_.largest_groups;
    return out;
}

/// Points of a screening share memory and take turns. Finalists have their own memory, so each is measured completely
/// before the next one. When finalists took turns on a CPU with two cores, they took up to twice as long as in `cllab
/// run`, and other points seemed the fastest.
std::vector<Record> Tuning::measure(const std::vector<Point>& points, const run::Settings& settings) {
    std::vector<model::Group> groups(settings.screening ? 1 : points.size());
    for (std::size_t i = 0; i < points.size(); ++i) groups[i % groups.size()].push_back(cell_at(points[i]));
    ask_reference_command(options_, context_.choice, groups, device_, true);
    std::vector<Record> out(points.size());
    try {
        context_.runner.run({std::nullopt, std::move(groups), settings}, device_.selector,
                            {[&](std::size_t group, std::size_t place, const Record&, const char*) {
                                 const auto index = group + place;
                                 say_doing(doing(settings.screening ? index : 0) + ", now " + text_of(points[index]));
                             },
                             [&](std::size_t group, std::size_t place, const Record& record) {
                                 const auto index = group + place;
                                 out.at(index) = record;
                                 context_.sink.take(record);
                                 fail(points[index], record);
                             }});
    } catch (const run::Interrupted&) {
        if (!settings.screening) throw;
        interrupted_ = true;  // the search uses the points measured so far
    }
    return out;
}

/// Reads no code: the finals do, and they verify each reported point with two inputs.
std::vector<std::optional<double>> Tuning::screen(const std::vector<Point>& points) {
    auto quick = settings();
    quick.sampling_seconds = std::min(screening_seconds, quick.sampling_seconds);
    quick.read_code = false;
    quick.screening = true;
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
        // A wrong point may be right with today's tolerance.
        if (record.id != variant_.id || record.status == model::Status::wrong_result || !is_same_now(record, point))
            continue;
        if (search_.record_known(point, time_of(record))) fail(point, record);
    }
}

bool Tuning::is_same_now(const Record& record, const Point& point) const {
    constexpr std::uint64_t seed = 1;  // only for the launch's identity
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
    } catch (const std::runtime_error&) {  // Unsupported, or an axis that no longer exists
        return false;
    }
}

/// The tuned axes, for example "local=64x4 planes=16".
std::string Tuning::text_of(const Point& point) const {
    return join(space_.tuned, " ", [&](const auto& axis) { return axis + "=" + point.text(axis); });
}

std::string Tuning::doing(std::size_t begun) const {
    const auto tried = search_.tried() + begun, known = search_.known();
    const auto possible = search_.possible();
    auto out = fmt::format("{}: {}{} tried", variant_.id, tried, possible ? fmt::format(" of {}", *possible) : "");
    const double spent = seconds_since(start_);
    double left = options_.budget.value_or(INFINITY) - spent;
    if (possible && tried > known && tried <= *possible)
        left = std::min(left, spent * static_cast<double>(*possible - tried) / static_cast<double>(tried - known));
    if (left > 0 && std::isfinite(left)) out += fmt::format(", about {:.0f} s left", left);
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
    if (interrupted_) {
        out += "\n  interrupted";
    } else if (found.is_exhaustive()) {
        out += static_cast<double>(found.tried) == points ? "\n  all tried" : concat("\n  all ", found.tried, " tried");
    } else {
        const bool by_model = options_.strategy == "auto" || options_.strategy == "model";
        out += fmt::format("\n  {} tried{}: {}", found.tried,
                           options_.budget ? fmt::format(" in {:.3g} s (--budget)", *options_.budget) : "",
                           by_model ? "some at random, then those that a model of the times picks" : "at random");
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

void Tuning::print_so_far(const model::Screening& found) const {
    constexpr std::size_t most = 20;
    if (found.ranked.empty()) return;
    std::string lines =
        "  the fastest so far, not yet held against any other: " + text_of(found.ranked.front().first) + "\n";
    for (const auto& [point, seconds] : found.ranked | std::views::take(most))
        lines += fmt::format("    {:>8}  {}\n", format_seconds(seconds), text_of(point));
    if (found.ranked.size() > most) lines += fmt::format("    and {} slower ones\n", found.ranked.size() - most);
    say_fitted(lines);
}

void Tuning::print_failures() {
    std::map<std::string, std::vector<std::string>> points;  // by reason
    for (const auto& [point, reason] : failures_)
        if (told_.insert(point).second) points[reason].push_back(point);
    for (const auto& [reason, failed] : points)
        say_fitted(concat("  failed at ", failed.size() > 1 ? concat(failed.size(), " points, such as ") : "",
                          printable(failed.front()), ": ", printable(reason), "\n"));
}

int tune(const TuneOptions& asked, Runner& runner) {
    const Timings timings;
    auto invocation = asked;
    const Choice choice(invocation);
    choice.require_built();
    const auto selected = choice.selected();
    // Errors of the command line are reported before the first build.
    std::vector<model::TuneSpace> spaces;
    for (const auto& s : selected) {
        const auto& space = spaces.emplace_back(model::tune_space(s, invocation.axes));
        if (!space.all && invocation.strategy == "all" && !invocation.budget && !invocation.points)
            throw Error(Blame::usage, "'", s.id, "' has more than ", model::most_points,
                        " points, too many for --strategy all; limit them with --points N or --budget SECONDS");
    }
    Outputs outputs(invocation);
    outputs.reads_for(invocation);
    catch_interrupts();
    const auto devices = runner.devices(invocation.devices);
    for (const auto& device : devices) outputs.reads(profile_path(invocation.dumps, device));
    choice.say_defaults(false);
    const auto limits = read_profiles(invocation.dumps, devices);
    std::map<std::string, std::size_t> groups;
    for (const auto& device : devices) groups[device.selector] = largest_group(known_answers(invocation.dumps, device));
    outputs.open();
    // Read only now: open() rejects an output that was also read, and the --resume file is both.
    const auto earlier =
        invocation.resume.empty() ? std::vector<model::Record>{} : read_records({invocation.resume}).records();
    Sink sink(outputs.json(), outputs.csv());
    if (sink.uses_stdout()) print_results_to_stderr();
    const TuneContext context{invocation, choice, runner, limits, groups, earlier, sink};
    if (invocation.budget) *invocation.budget /= static_cast<double>(devices.size() * selected.size());
    bool fine = true;
    try {
        for (const auto& device : devices)
            for (std::size_t i = 0; i < selected.size(); ++i)
                fine = Tuning(context, selected[i], spaces[i], device).run() && fine;
    } catch (const run::Interrupted&) {
        const bool has_file = outputs.json() && !outputs.json()->is_stdout();
        const auto again = typed(asked.argv, {"--resume"}) + " --resume " + (has_file ? invocation.json : "FILE");
        say(has_file ? "interrupted; this goes on from the points in the file: " + again
                     : "interrupted; no file keeps the points; this would, and goes on from them: " + again);
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
        .text("json", "FILE", &TuneOptions::json)
        .text("csv", "FILE", &TuneOptions::csv)
        .with(process_rows())
        .with(label_rows())
        .with(timings_rows())
        .number("budget", "SECONDS", any_seconds, &TuneOptions::budget, "")
        .whole("points", "N", {1, model::most_points, "whole numbers from 1 to 100000"}, &TuneOptions::points)
        .word("strategy", "WHICH", {"auto", "all", "random", "model"}, &TuneOptions::strategy)
        .text("resume", "FILE", &TuneOptions::resume)
        .number("max-time", "SECONDS", any_seconds, &TuneOptions::max_time, "0.4")
        .with(replace_rows("--json or --csv"));
    return make_command<TuneOptions>(manual_of("tune"), rows, check_tune, [](const TuneOptions& invocation) {
        return tune(invocation, *in_child_processes(invocation.timeout_seconds));
    });
}

/// The command line that runs the point, with every axis that differs from the family's default.
std::string Tuning::command_of(const Point& point) const {
    const auto& variant = *variant_.variant;
    const auto kernel = variant.own ? variant.own->path + ":" + variant.name : variant_.id;
    auto out = concat("cllab run ", report::shell_word(kernel), " --device ", device_.selector);
    const auto defaults = model::axes_of(*variant_.experiment, *variant_.variant);
    for (const auto& axis : space_.axes) {
        const auto own = std::ranges::find(defaults, axis.name, &model::Axis::name);
        const std::vector<std::string> automatic{axis.kind == model::Axis::Kind::options ? "none" : "auto"};
        const auto& value = point.text(axis.name);
        if ((own == defaults.end() ? automatic : own->values) != std::vector{value})
            out += " --axis " + report::shell_word(axis.name + "=" + value);
    }
    return out;
}

}  // namespace cllab::app
