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
    out.goes_on = true;  // the device's state is known from earlier batches
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
        if (record.id != variant_.id || !is_same_now(record, point)) continue;
        if (search_.know(point, time_of(record))) fail(point, record);
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
    for (const auto& [point, reason] : failures_)
        if (told_.insert(point).second)
            say_fitted(fmt::format("  failed at {}: {}\n", printable(point), printable(reason)));
}

int tune(const TuneOptions& asked, Runner& runner) {
    const Timings timings;
    auto invocation = asked;
    const Choice choice(invocation);
    const auto selected = choice.selected();
    // Errors of the command line are reported before the first build.
    std::vector<model::TuneSpace> spaces;
    for (const auto& s : selected) {
        const auto& space = spaces.emplace_back(model::tune_space(s, invocation.axes));
        if (!space.all && invocation.strategy == "all" && !invocation.budget && !invocation.points)
            throw Error(Blame::usage, "'", s.id, "' has more than ", model::most_points,
                        " points; with --strategy all, --budget or --points says how many of them are tried");
    }
    Outputs outputs(invocation);
    outputs.reads_for(invocation);
    catch_interrupts();
    const auto devices = runner.devices(invocation.devices);
    for (const auto& device : devices) outputs.reads(profile_path(invocation.dumps, device));
    choice.say_defaults();
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
        const bool kept = outputs.json() && !outputs.json()->is_stdout();
        const auto again = typed(asked.argv, {"--resume"}) + " --resume " + (kept ? invocation.json : "FILE");
        say(kept ? "interrupted; this goes on from the points in the file: " + again
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

static constexpr std::size_t most_finalists = 6;  // including the default

/// The default, if it has a time, and the fastest other points.
std::vector<Point> Tuning::finalists_of(const model::Screening& found) const {
    std::vector<Point> out;
    for (const auto& [point, time] : found.ranked)
        if (point == space_.initial) out.push_back(point);
    for (const auto& [point, time] : found.ranked)
        if (point != space_.initial && out.size() < most_finalists) out.push_back(point);
    return out;
}

void Tuning::judge(const model::Screening& found) {
    finalists_ = finalists_of(found);
    if (!finalists_.empty()) final_records_ = measure(finalists_, settings());
    say_doing("");
    std::vector<std::size_t> order;
    for (std::size_t n = 0; n < finalists_.size(); ++n) {
        const auto& record = final_records_[n];
        if (record.status == model::Status::ok && record.time && record.time->has_interval()) order.push_back(n);
    }
    if (order.empty()) {
        const auto seen = found.ranked.empty() ? "no point has a time"
                                               : concat("none of the best few had a time of ", least_for_interval,
                                                        " samples (--max-time) when measured again");
        say_fitted("  " + seen + ", so there is no winner\n");
        return tell(found, std::nullopt, seen);
    }
    std::ranges::sort(order, {}, [&](std::size_t n) { return final_records_[n].time->median; });
    print_finalists(order, found);
    const auto winner = choose(order);
    const auto& best = finalists_[winner];
    say_fitted((best == space_.initial ? "  keep the default: " : "  fastest: ") + text_of(best) + "; to run it:\n");
    results() << "  " << command_of(best) << '\n';
    tell(found, winner);
}

void Tuning::tell(const model::Screening& found, std::optional<std::size_t> winner, const std::string& seen) const {
    auto line = report::line_of("tune", variant_.id, winner ? final_records_[*winner].point : Pairs{},
                                run::device_info(device_));
    report::add_figure(line, "tried", found.tried, "points",
                       found.is_exhaustive() ? "all that are possible" : "a search");
    report::add_figure(line, "timed", found.ranked.size(), "points", "the search");
    if (!winner) report::add_refusal(line, "no winner", seen, "a point that is right, and a larger --max-time");
    const auto add_time = [&](const char* name, std::size_t finalist) {
        if (const auto& time = final_records_[finalist].time)
            report::add_figure(line, name, time->median, "s", concat("the median of ", time->n, " samples"));
    };
    if (winner) add_time("time", *winner);
    for (std::size_t n = 0; n < finalists_.size(); ++n)
        if (finalists_[n] == space_.initial) add_time("default_time", n);
    if (winner) line["command"] = command_of(finalists_[*winner]);
    context_.sink.line(report::line_text(line));
}

void Tuning::print_finalists(const std::vector<std::size_t>& order, const model::Screening& found) const {
    std::size_t width = 0;
    for (const auto n : order) width = std::max(width, text_of(finalists_[n]).size());
    results() << "  the fastest few, each measured again:\n";
    std::string lines;
    for (const auto n : order) {
        const auto& point = finalists_[n];
        const auto& time = *final_records_[n].time;
        const auto first = std::ranges::find(found.ranked, point, &std::pair<Point, double>::first);
        lines += fmt::format("    {:<{}}  {:>8} [{}, {}], first {}{}{}\n", text_of(point), width,
                             format_seconds(time.median), format_seconds(time.low), format_seconds(time.high),
                             format_seconds(first->second), point == space_.initial ? ", the default" : "",
                             model::had_its_cores(final_records_[n]) ? "" : ", others had its cores");
    }
    say_fitted(lines);
    for (const auto& warning : final_records_[order.front()].warnings)
        if (model::is(warning, model::Warning::beyond_peak)) say_fitted("  " + printable(warning) + "\n");
}

/// The points that one process cannot distinguish from the fastest. Placement of code and data alone changes a time by
/// up to 4 % on a GPU and 15 % on a CPU (host/README.md, rule 15).
std::vector<std::size_t> Tuning::contenders(const std::vector<std::size_t>& order) const {
    const double unlikely = device_.is_gpu() ? 1.06 : 1.25;
    constexpr std::size_t most = 3;
    std::vector<std::size_t> out;
    const double fastest = final_records_[order.front()].time->high;
    for (const auto n : order) {
        const bool is_default = finalists_[n] == space_.initial;
        const double apart = is_default ? compare::FamilyRules::far : unlikely;
        const bool may_be = final_records_[n].time->low < apart * fastest;
        if (n != order.front() && may_be && (is_default || out.size() < most)) out.push_back(n);
    }
    // The default comes first: a winner must beat it.
    std::ranges::stable_partition(out, [&](std::size_t n) { return finalists_[n] == space_.initial; });
    return out;
}

/// The fastest of many points was partly lucky, so it is compared again.
std::size_t Tuning::choose(const std::vector<std::size_t>& order) {
    const auto fastest = order.front();
    const auto is_default = [&](std::size_t n) { return finalists_[n] == space_.initial; };
    const auto standard = std::ranges::find_if(order, is_default);
    const auto others = contenders(order);
    if (is_default(fastest))
        results() << "  measured again, no point is faster than the default\n";
    else if (standard == order.end())
        say_fitted(fmt::format("  the default has no time; the fastest is {}\n", text_of(finalists_[fastest])));
    else if (std::ranges::count(others, *standard) == 0)
        say_fitted(fmt::format("  the default takes {:.3g} times as long, more than any placement explains\n",
                               final_records_[*standard].time->median / final_records_[fastest].time->median));
    const auto compared = compare(fastest, others);
    auto best = fastest;
    double most = 1;
    for (std::size_t i = 0; i < compared.size(); ++i) {
        const auto& found = compared[i].judgement;
        if (is_default(others[i]) && found.verdict != model::Verdict::faster) {
            results() << "  no point is faster than the default beyond the control\n";
            return others[i];
        }
        if (found.verdict != model::Verdict::slower || found.ratio.ratio <= most) continue;
        best = others[i];
        most = found.ratio.ratio;
    }
    return best;
}

/// Compares with rules under which all verdicts together are as certain as a single one.
std::vector<model::Comparison> Tuning::compare(std::size_t left, const std::vector<std::size_t>& others) {
    if (others.empty()) return {};
    const InPhase phase(Phase::arrangements);
    const auto name = [&](std::size_t n) {
        return finalists_[n] == space_.initial ? std::string("the default") : text_of(finalists_[n]);
    };
    model::Group cells{cell_at(finalists_[left])};
    std::vector<Record> records{final_records_[left]};
    for (const auto n : others) {
        cells.push_back(cell_at(finalists_[n]));
        records.push_back(final_records_[n]);
    }
    const auto settings = this->settings();
    Versus versus(context_.runner, settings, device_.selector, cells, records, model::Control::left);
    auto rules = rules_for(others.size());
    rules.verdict_suffices = true;
    versus.run(options_.comparison_seconds, rules, [&](const model::Comparison& so_far) {
        say_doing(fmt::format("{}: {} against {} other{}, {} replicates", variant_.id, name(left), others.size(),
                              others.size() == 1 ? "" : "s", so_far.judgement.ratio.n));
    });
    say_doing("");
    auto out = versus.comparisons();
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i].left = name(left);
        out[i].right = name(others[i]);
        context_.sink.take(out[i]);
        // All use the same arrangements, so the method is printed once.
        const auto words = report::comparison_text(out[i]);
        say_fitted("  " + (i + 1 < out.size() ? words.substr(0, words.find('\n') + 1) : words));
    }
    return out;
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
