// `cllab why`: what limits a kernel's time, compared with the peaks in the device's profile.
#include "app/commands/why.hpp"

#include <optional>

#include "app/commands/command_file.hpp"
#include "app/commands/profile.hpp"
#include "app/comparing/versus.hpp"
#include "app/files/behaviour_file.hpp"
#include "app/processes/simulation.hpp"
#include "app/screen/results.hpp"
#include "compare/verdict.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "explain/advice.hpp"
#include "explain/limiter.hpp"
#include "inspect/tools/dump.hpp"
#include "inspect/tools/tool.hpp"
#include "model/params.hpp"
#include "model/warning.hpp"
#include "portrait/conclusion.hpp"
#include "portrait/probes.hpp"
#include "report/records/json.hpp"
#include "report/table/explanation.hpp"
#include "report/table/verdict.hpp"
#include "run/executor.hpp"
#include "run/one_core.hpp"

namespace cllab::app {
namespace {

/// Writes explanations as JSON lines, and prints them by device unless JSON uses standard output.
class WhyPage {
public:
    WhyPage(Sink& sink, std::string dumps) : sink_(sink), dumps_(std::move(dumps)) {}
    void add(const model::Record& record, const model::Explanation& explanation, const model::Limits& profile);
    /// Explains the record by the profile alone.
    void add(const model::Record& record, const model::Limits& limits);
    /// Prints a last paragraph.
    void end(const std::string& text) const;

private:
    Sink& sink_;
    report::TableStyle style_{wants_colour(), page_width()};
    std::string dumps_, device_;
};

/// The device's options for `cllab profile`.
std::string device_options(const std::string& selector, const std::string& dumps) {
    return selector + (dumps.empty() ? "" : " --dumps " + cllab::quoted(dumps));
}

void WhyPage::add(const model::Record& record, const model::Explanation& explanation, const model::Limits& profile) {
    sink_.line(report::explanation_json(record, explanation));
    if (sink_.uses_stdout()) return;
    if (const auto key = model::device_key(record); key != device_) {
        const auto doubt = busy_sentence(profile.disturbed, device_options(record.device.selector, dumps_));
        results() << (device_.empty() ? "" : "\n") << report::explanation_heading(record, profile.utc, style_)
                  << report::wrap(doubt, "", style_.text_width());
        device_ = key;
    }
    results() << '\n' << report::explanation_text(record, explanation, style_);
    results().flush();
}

void WhyPage::add(const model::Record& record, const model::Limits& limits) {
    auto explanation = explain::explain(record, limits);
    explanation.advice = explain::advice(record, explanation, limits);
    add(record, explanation, limits);
}

void WhyPage::end(const std::string& text) const {
    if (!text.empty() && !sink_.uses_stdout()) results() << '\n' << report::fit(text + "\n", style_.text_width());
}

/// Throws Error(usage): the device has no profile; `remedy` says what to do.
[[noreturn]] void no_profile(const std::string& dumps, const model::Device& device, const std::string& remedy) {
    throw Error(Blame::usage, "no usable profile of '", excerpt(device.name), "' at '",
                profile_path(dumps, device).string(), "'; `cllab why` compares with the peaks in it; ", remedy);
}

struct MeasuredCell {
    const model::Cell* cell;
    model::Record record;
    std::string not_counted;  ///< why it was not counted; empty: counted, or not requested
    bool written = false;
};

/// Data shared by all cells of a command, and the cells measured on the current device.
struct WhyContext {
    const WhyOptions& options;
    const Choice& choice;
    const run::RunRequest& request;
    Runner& runner;
    Sink& sink;
    WhyPage& page;
    std::vector<MeasuredCell>& cells;
    double count_seconds;  ///< simulation time per cell; 0: counts do not explain times

    bool by_ncu(const model::Device& device) const {
        return count_seconds > 0 && device.implementation == model::Implementation::nvidia &&
               inspect::find_tool({"ncu"});
    }
};

/// Writes a cell's record, once; it may be that of the second measurement. Its dump was only for ncu.
void write_cell(Sink& sink, MeasuredCell& cell, model::Record record) {
    record.dump.clear();
    sink.take(record);
    cell.written = true;
}

/// Writes the measured cells that will not be explained any more.
void write_rest(Sink& sink, std::vector<MeasuredCell>& cells) {
    for (auto& cell : cells)
        if (!cell.written) write_cell(sink, cell, cell.record);
}

/// Times the cells on one device and adds their counts. The profiler runs after all cells are timed: when a record
/// arrives, the next cell is already being measured.
void time_cells(const WhyContext& asked, const model::Device& device, const CellCounts& counts) {
    asked.cells.clear();
    const auto say_phase = [](std::size_t, std::size_t, const model::Record& record, const char* phase) {
        say_doing(record.id + ": " + phase);
    };
    asked.runner.run(
        asked.request, device.selector,
        {say_phase, [&](std::size_t group, std::size_t index, const model::Record& record) {
             auto& done = asked.cells.emplace_back(MeasuredCell{&asked.request.comparisons[group][index], record, ""});
             if (asked.count_seconds > 0) counts.add_to(*done.cell, done.record, done.not_counted);
         }});
    for (auto& done : asked.cells) {
        if (!asked.by_ncu(device) || !done.record.time) continue;
        say_doing("counting " + done.record.id + " by ncu");
        const auto trouble =
            count_by_ncu(*done.cell, device, asked.request.settings.seed, asked.options.timeout_seconds, done.record);
        if (!trouble.empty()) done.not_counted += (done.not_counted.empty() ? "" : "; ") + trouble;
    }
}

/// The record that `cllab run` left in the dump of the cell, if it is of the same code and launch.
std::optional<model::Record> recorded(const std::string& dumps, const model::Device& device,
                                      const model::Record& record) try {
    const auto root = inspect::device_folder(dumps.empty() ? "dumps" : dumps, device, run::this_host().name);
    const auto text = read_plain(root / record.id / inspect::timing_file);
    auto out = text ? report::from_json(*text) : model::Record{};
    return out.time && compare::same_code(out, record) ? std::optional(std::move(out)) : std::nullopt;
} catch (const Error&) {
    return std::nullopt;
}

/// Explains a cell. `record` becomes that of the second measurement if that one replaces the first.
model::Explanation explained(explain::Peaks& peaks, const MeasuredCell& done, model::Record& record,
                             const std::optional<model::Record>& before) {
    auto out = peaks.explain(*done.cell, record);
    auto other = peaks.second_time(*done.cell, record, out);
    if (other && explain::second_stands(*record.time, *other->time, out.limit)) {
        auto of_second = peaks.explain(*done.cell, *other);  // from here on limits() has the peaks that it used
        auto again = explain::still_used(std::move(out.again), peaks.limits());
        out = std::move(of_second);
        out.again.insert(out.again.begin(), again.begin(), again.end());
        std::swap(record, *other);
    }
    const auto has_two_times = [&] { return other && explain::has_two_times(*other->time, *record.time); };
    const bool here = has_two_times();
    if (!here) other = before;
    if (record.time && has_two_times()) {
        out.other_seconds = other->time->median;
        out.other_from = here ? "in another measurement" : "by `cllab run` at " + other->utc;
    }
    out.advice = explain::advice(record, out, peaks.limits());
    out.contradictions = explain::contradictions(record);
    if (!done.not_counted.empty()) out.leave_out("what it executes", done.not_counted);
    return out;
}

/// Explains, writes and prints the measured cells of a device. Returns false if one failed.
bool explain_all(const WhyContext& asked, const model::Device& device, const CellCounts& counts) {
    const auto& limits = asked.request.settings.limits.at(device.selector);
    RunnerMeasure measure(asked.runner, asked.request.settings, device, say_doing);
    explain::Peaks peaks(measure, limits);
    const auto constants = cost_of_constants(known_answers(asked.options.dumps, device));
    bool ok = true;
    for (auto& done : asked.cells) {
        auto record = done.record;
        auto explanation = explained(peaks, done, record, recorded(asked.options.dumps, device, record));
        asked.choice.warn_of_sizes(*done.cell, record);
        if (record.counts && record.counts->constant.loads.mean > 0)
            explanation.advice = trim(explanation.advice + " " + constants);
        say_doing("");
        ok = ok && !model::is_failure(done.record.status);
        write_cell(asked.sink, done, record);
        asked.page.add(record, explanation, limits);
        done.record = record;  // the final time
    }
    if (asked.cells.size() != 2) return ok;
    const auto &a = asked.cells[0], &b = asked.cells[1];
    if (!a.record.time || !b.record.time || a.record.id == b.record.id) return ok;
    const auto size_of = [](const auto& cell) { return model::text_of(cell.record, model::Warning::unlike_sizes); };
    if (size_of(a) != size_of(b)) {
        asked.page.end("The two times do not compare: " + size_of(a) + ".");
        return ok;
    }
    const double as_long = b.record.time->median / a.record.time->median;
    const auto &faster = as_long < 1 ? b.record : a.record, &slower = as_long < 1 ? a.record : b.record;
    const bool clear = report::clearly_before(faster, faster.time->median, slower, slower.time->median);
    const auto read = report::difference(faster, slower);
    asked.page.end(slower.id + " takes " + format_significant(std::max(as_long, 1 / as_long), 3) +
                   " times as long as " + faster.id + (read.text.empty() ? ". " : "; " + read.text + ". ") +
                   counts.difference({*a.cell, a.record.work.groups * a.record.work.group},
                                     {*b.cell, b.record.work.groups * b.record.work.group}, clear ? as_long : 1,
                                     explain::is_gpu(a.record), read.ratio) +
                   (clear ? ""
                          : " These times are not told apart; " +
                                report::command_text(faster, "run " + report::pattern_of(slower) + " --vs " +
                                                                 report::pattern_of(faster)) +
                                " tests the difference."));
    return ok;
}

/// The profiles of the devices. Throws Error(usage) if one is missing, because it has the peaks.
std::map<std::string, model::Limits> profiles_of(const WhyOptions& asked, const std::vector<model::Device>& devices) {
    auto out = read_profiles(asked.dumps, devices);
    for (const auto& device : devices)
        if (!out.count(device.selector))
            no_profile(asked.dumps, device,
                       "`cllab profile --device " + device_options(device.selector, asked.dumps) +
                           "` measures it, or add --profile 60");
    return out;
}

/// Makes the missing profiles. Note that run_profile() may load a GPU's driver into this process.
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
        missing.isolate = true;  // the cells' processes must start without this one's drivers
        run_profile(missing);
    }
}

/// After an interrupt: explains the measured cells by the profile alone, without measuring anything again.
void explain_rest(const WhyContext& asked) {
    for (auto& done : asked.cells) {
        if (done.written) continue;
        write_cell(asked.sink, done, done.record);
        asked.page.add(done.record, asked.request.settings.limits.at(done.record.device.selector));
    }
}

/// Returns the cells' exit status, or 130 if interrupted.
int explain_devices(const WhyContext& asked, const std::vector<model::Device>& devices, double pair_seconds) try {
    bool ok = true;
    for (const auto& device : devices) {
        const CellCounts counts(asked.request, std::max(pair_seconds, asked.count_seconds),
                                wave_of(asked.request.settings.limits.at(device.selector)), say_doing);
        time_cells(asked, device, counts);
        ok = explain_all(asked, device, counts) && ok;
    }
    return ok ? 0 : 1;
} catch (const run::Interrupted&) {
    say_doing("");
    explain_rest(asked);
    say(asked.sink.interrupted());
    return 130;
} catch (...) {
    write_rest(asked.sink, asked.cells);
    throw;
}

/// Whether a pattern of `why` names a file of records: its name ends in .jsonl or .json.
bool names_records(const std::string& pattern) { return pattern.ends_with(".jsonl") || pattern.ends_with(".json"); }

/// `why FILE.jsonl`: explains records, using each device's profile below --dumps. Counts by `cllab ncu` replace
/// declared work.
int why_of_records(const WhyOptions& invocation) {
    if (const auto other = std::ranges::find_if_not(invocation.patterns, names_records);
        other != invocation.patterns.end())
        throw Error(Blame::usage, "`cllab why` takes either record files or kernels; '", *other,
                    "' is not a record file");
    Outputs outputs(invocation);
    const auto joined = read_records(invocation.patterns);
    const auto& records = joined.records();
    if (records.empty()) throw Error(Blame::usage, "no records found in '", join(invocation.patterns, "', '"), "'");
    std::map<std::string, model::Limits> limits;  // by device key
    for (const auto& record : records) {
        const auto key = model::device_key(record);
        if (limits.count(key)) continue;
        const auto device = device_of(record);
        auto found = read_profiles(invocation.dumps, {device});
        if (found.empty()) no_profile(invocation.dumps, device, "use --dumps DIR if it is in another folder");
        limits[key] = std::move(found.begin()->second);
    }
    outputs.open();
    Sink sink(outputs.json(), nullptr);
    WhyPage page(sink, invocation.dumps);
    for (const auto& record : records) page.add(record, limits.at(model::device_key(record)));
    return 0;
}

int run_why(const WhyOptions& asked) {
    if (std::ranges::any_of(asked.patterns, names_records)) return why_of_records(asked);
    const Timings timings;
    auto invocation = asked;
    invocation.no_dumps = true;
    if (!invocation.hot_seconds) invocation.hot_seconds = 0.05;  // the code that ran shows how wide its vectors are
    Outputs outputs(invocation);
    outputs.reads_for(invocation);
    const Choice choice(invocation);
    auto request = request_of(choice, invocation);
    catch_interrupts();
    if (asked.profile_seconds) make_profiles(asked);

    const bool is_pair = request.cells() == 2;  // their difference is explained
    const double pair_seconds = is_pair ? asked.count_seconds : 0;
    // A user's kernels may write anywhere or never end. And the simulator's processes must start without this process's
    // drivers.
    const bool isolate = !asked.cl_dir.empty() || choice.own() || pair_seconds > 0;
    std::vector<MeasuredCell> cells;
    std::optional<Sink> sink;  // nullopt until all inputs are known; nothing is measured before
    const auto keep = [&](model::Record& stuck) {
        if (!sink) return;
        write_rest(*sink, cells);
        sink->take(stuck);
    };
    const auto runner =
        isolate ? in_child_processes(invocation.timeout_seconds) : in_this_process(invocation.timeout_seconds, keep);
    const auto devices = runner->devices(invocation.devices);
    for (const auto& device : devices) {
        outputs.reads(profile_path(invocation.dumps, device));
        check_points(request, device);
    }
    request.settings.limits = profiles_of(invocation, devices);
    choice.say_defaults(false, request.left_out);
    outputs.open();
    sink.emplace(outputs.json(), nullptr);

    // Only cllab's own families declare all their work.
    WhyPage page(*sink, invocation.dumps);
    const WhyContext all{asked, choice, request, *runner, *sink, page, cells, choice.own() ? asked.count_seconds : 0};
    const inspect::TempFolder binaries;
    if (std::ranges::any_of(devices, [&](const auto& device) { return all.by_ncu(device); }))
        request.settings.dumps = binaries.path();
    const int status = explain_devices(all, devices, pair_seconds);
    if (asked.timings) timings.print(phases_of(sink->records()));
    return status;
}

Rows<WhyOptions> why_rows() {
    Rows<WhyOptions> rows;
    rows.with(choice_rows())
        .with(kernel_file_rows())
        .with(text_rows())
        .text("json", "FILE", &WhyOptions::json)
        .text("dumps", "DIR", &WhyOptions::dumps)
        .number("profile", "SECONDS", any_seconds, &WhyOptions::profile_seconds, "")
        .number("count-budget", "SECONDS", {0, 3600, "seconds from 0 to 3600"}, &WhyOptions::count_seconds, "5")
        .number("max-time", "SECONDS", any_seconds, &WhyOptions::sampling_seconds, "0.4")
        .with(process_rows())
        .with(label_rows())
        .with(timings_rows())
        .with(replace_rows("--json"));
    return rows;
}

}  // namespace

Command why_command() {
    return make_command<WhyOptions>(
        manual_of("why"), why_rows(), [](WhyOptions& options) { need_pattern(options); }, run_why);
}

model::Record RunnerMeasure::run(const model::Cell& cell, double seconds) {
    run::RunRequest request{std::nullopt, {{cell}}, settings_};
    request.settings.sampling_seconds = std::min(seconds, settings_.sampling_seconds);
    request.settings.dumps.reset();
    request.settings.pictures.clear();
    request.settings.hot_seconds = 0;
    return records_of(runner_, request, device_.selector).front();
}

std::optional<explain::OneCoreTimes> RunnerMeasure::on_one_core(const model::Cell& cell, std::string& why_not) {
    run::RunRequest request{std::nullopt, {{cell, cell, cell}}, settings_};
    auto& settings = request.settings;
    settings.arrangement = settings.one_core = settings.continues_run = true;
    settings.sampling_seconds = 0.1;
    settings.dumps.reset();
    settings.pictures.clear();
    settings.hot_seconds = 0;
    progress_("on one core: " + cell.id);
    const auto records = records_of(runner_, request, device_.selector);
    for (const auto& record : records)
        if (record.status != model::Status::ok) why_not = record.reason;
    if (records.size() != 3 || !std::ranges::all_of(records, [](const auto& r) { return r.time.has_value(); }))
        return std::nullopt;
    return explain::OneCoreTimes{*records[0].time, *records[1].time, *records[2].time, run::threads_of_this_core()};
}

std::vector<model::Figure> RunnerMeasure::peak(const std::string& id, double seconds) {
    // As the profile measures it, regardless of the cells' settings.
    run::RunRequest request;
    request.settings.seed = settings_.seed;
    request.settings.warm_seconds = 0.02;
    request.settings.argv = settings_.argv;
    request.settings.run = settings_.run;
    request.settings.builds_ahead = settings_.builds_ahead;
    request.settings.sampling_seconds = seconds;
    const auto parts = portrait::parts_of_figure(id, device_);
    request.comparisons = portrait::plan_of(parts, false);
    if (request.comparisons.empty()) return {};
    std::vector<model::Record> records;
    runner_.run(request, device_.selector,
                {[&](std::size_t, std::size_t, const model::Record& record, const char*) {
                     progress_("peak " + id + " again: " + record.id);
                 },
                 [&](std::size_t, std::size_t, const model::Record& record) { records.push_back(record); }});
    std::vector<model::Figure> out;
    const auto conclusions = portrait::conclude(records, device_);
    for (const auto& [found, f] : portrait::findings_of(conclusions))
        // Only figures from exactly these cells; others need other cells too.
        if (f->withheld.empty() && f->value > 0 && portrait::parts_of_figure(found, device_) == parts)
            out.push_back({found, f->name, f->unit, f->value, f->low, f->high});
    const auto wanted = std::ranges::find(out, id, &model::Figure::id);
    if (wanted == out.end()) return {};
    std::iter_swap(out.begin(), wanted);
    return out;
}

}  // namespace cllab::app
