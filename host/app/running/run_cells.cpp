// `cllab run` and `cllab dump`. Everything is resolved and opened before the first build. Each cell is on disk before
// the next one starts. However the run ends, finished results are saved.
#include "app/running/run_cells.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ranges>
#include <set>

#include "app/choose/request.hpp"
#include "app/code/source_lines.hpp"
#include "app/commands.hpp"
#include "app/files/baseline.hpp"
#include "app/files/behaviour_file.hpp"
#include "app/files/profile_file.hpp"
#include "app/processes/runner.hpp"
#include "app/running/cross_check.hpp"
#include "app/screen/results.hpp"
#include "app/screen/streams.hpp"
#include "core/grouped.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "model/warning.hpp"
#include "portrait/conclusion.hpp"
#include "report/table/comparison.hpp"
#include "report/table/table.hpp"
#include "report/table/verdict.hpp"
#include "run/kernel_source.hpp"

namespace cllab::app {
namespace {

using Devices = std::vector<model::Device>;

/// The launch does not fit its buffers or does nothing. If the launch was guessed, the guess may be wrong.
bool is_of_launch(const model::Record& record) {
    const auto says = [&](const char* words) { return record.reason.find(words) != std::string::npos; };
    return record.status == model::Status::wrong_result &&
           (says(" past its end of ") || says(" before its start") || says("it writes nothing"));
}

/// One sentence per build option that, according to `cllab behaviour`, changes no code on the device.
std::set<std::string> idle_options(const Answers& known, const std::string& options) {
    std::set<std::string> out;
    for (const auto& [name, answer] : known) {
        const auto option = join(split(name.substr(name.find('-') + 1), ';'), " ");
        if (name.starts_with("compile.option.-") &&
            (" " + options + " ").find(" -" + option + " ") != std::string::npos)
            out.insert(note_of(known, name));
    }
    out.erase("");
    return out;
}

class CellsRun {
public:
    CellsRun(RunPlan& plan, Runner& runner, RunListener& listener)
        : plan_(plan),
          runner_(runner),
          listener_(listener),
          devices_(plan.prepare(runner)),
          sink_(plan.outputs.json(), plan.outputs.csv()),
          baseline_(plan.options.baseline, plan.outputs.file("--baseline"), plan.request.settings.cl_dir),
          progress_(plan.request.cells() * devices_.size()) {}

    int carry_out() {
        try {
            run();
        } catch (const run::Interrupted&) {
            print();
            print_timings();
            say(sink_.interrupted());
            return 130;
        } catch (...) {
            print();  // finished results are not lost
            throw;
        }
        print();
        print_timings();
        return status();
    }

    /// Called before the process ends because a driver hangs.
    void give_up(model::Record& stuck) {
        if (adds_lines_) return print();  // the cell was measured before
        write_timing(stuck);
        sink_.take(stuck);
        baseline_.take(stuck, nullptr);
        print();
    }

private:
    bool prints() const { return !sink_.uses_stdout() && !has_page_on_stdout(plan_.outputs); }

    void run() {
        ask_others();
        for (const auto& device : devices_) run_on(device);
        add_source_lines();
    }

    void add_source_lines() {
        if (plan_.options.html.empty()) return;
        adds_lines_ = true;
        dumped_.add_lines(runner_, plan_.request.settings, devices_);
        adds_lines_ = false;
    }

    void ask_others() {
        if (plan_.options.reference_command.empty() && plan_.options.check.empty()) return;
        say_doing("getting results from other implementations");
        ask_reference_command(plan_.options, plan_.choice, plan_.request.comparisons, devices_.front(),
                              plan_.request.settings.measure);
        if (!plan_.options.check.empty()) cross_check(plan_.options, plan_.choice, plan_.request.comparisons, devices_);
        say_doing("");
    }

    /// Throws DeviceLost if the driver fails and no other device is selected.
    void run_on(const model::Device& device) {
        try {
            sides_.clear();
            known_ = known_answers(plan_.options.dumps, device);
            plan_.request.settings.largest_groups[device.selector] = largest_group(known_);
            for (const auto& group : plan_.request.comparisons) sides_.emplace_back(group.size());
            runner_.run(plan_.request, device.selector, events_);
            if (plan_.paired) compare(device);
        } catch (const DeviceLost& e) {
            if (devices_.size() == 1) throw;
            lose(device, e.what());
        }
    }

    void lose(const model::Device& device, const std::string& why) {
        say_doing("");
        say(why + "; the other devices continue");
        lost_.push_back({run::device_info(device), why});
    }

    void begin(const model::Record& record, const char* phase) {
        if (std::strcmp(phase, "sample") != 0)  // samples come fast and compile nothing
            describe_crash("in " + record.id + " on '" + excerpt(record.device.name) + "'",
                           "Finished cells are on disk; --isolate continues after a crash.");
        progress_.phase(record, phase);
    }

    /// Prints the log of a user's text that does not build; for its other kernels it is the same.
    void say_log(const model::Record& record) {
        const auto& log = record.build.log;
        if (record.status != model::Status::build_failed || log.empty() || plan_.choice.files().empty()) return;
        if (!said_.insert("log of " + record.build.source).second) return;
        if (log.find('\n') == log.npos)  // a sentence of cllab's, such as that of a program that is no text
            return say(concat("'", record.build.source, "' does not build: ", run::first_error(log)));
        const auto errors = run::errors_in(log);
        say(concat("'", record.build.source, "' does not build: ", errors, errors == 1 ? " error" : " errors", "; ",
                   record.dump.empty() ? "without --no-dumps, build.log in the dumps has the whole log"
                                       : record.dump + "/build.log has the whole log"));
        say_lines(run::first_errors(
            log, [&](const auto& file, std::size_t line) { return plan_.choice.source_line(file, line); }));
        if (log.find("'half'") != log.npos)
            say("arithmetic of half needs a device with cl_khr_fp16, which NVIDIA's OpenCL has not: vload_half and "
                "vstore_half convert to float and back");
    }

    void done(std::size_t group, std::size_t index, const model::Record& found) {
        const auto& cell = plan_.request.comparisons[group][index];
        auto record = found;
        if (model::is_failure(record.status) && record.status != model::Status::build_failed &&
            record.status != model::Status::disagree && !record.reason.starts_with("the reference command") &&
            plan_.choice.is_guessed(*cell.variant)) {
            // The cause may be the guess, not the kernel.
            if (is_of_launch(record)) record.status = model::Status::launch_failed;
            record.reason += "; sizes and values were guessed, which may be the cause";
        }
        // These sentences know neither the file nor the user's options.
        const auto complete = [&](std::string& sentence) {
            constexpr std::string_view option = "--check oclgrind";
            if (const auto at = sentence.find(option); cell.variant->own && at != sentence.npos)
                sentence.replace(at, option.size(), report::check_command(record, cell.variant->own->path));
        };
        complete(record.reason);
        for (auto& warning : record.warnings)
            if (model::is(warning, model::Warning::elsewhere)) complete(warning);
        plan_.choice.warn_of_sizes(cell, record);
        say_doing("");
        say_log(record);
        for (const auto& idle : idle_options(known_, record.build.options))
            if (said_.insert(record.device.selector + idle).second) say(idle);
        for (auto& warning : record.warnings)
            if (model::is(warning, model::Warning::driver_group) && warning.find(" divides ") != std::string::npos)
                if (const auto cost = note_of(known_, "launch.prime"); !cost.empty()) warning += "; " + cost;
        sink_.take(record);
        baseline_.take(record, &cell);
        progress_.finished(record);
        listener_.done(cell, index, record);
        dumped_.take(cell, record);
        if (plan_.paired) sides_.at(group).at(index) = record;
    }

    void compare(const model::Device& device) {
        auto& pairs = pairs_.emplace_back();
        for (std::size_t g = 0; g < sides_.size(); ++g)
            for (auto& pair : pairs_of(plan_.request.comparisons[g], sides_[g], names_best(plan_.options.versus)))
                pairs.push_back(std::move(pair));
        if (!plan_.request.settings.measure) return;
        const auto rules = rules_for(pairs.size());
        for (auto& pair : pairs) {
            if (!pair.left.time || !pair.right.time) continue;
            pair.comparison = compare(device, pair, rules);
            say_doing("");
            if (!pair.comparison) continue;
            pair.comparison->where = where_among(pairs, pair);
            sink_.take(*pair.comparison);
        }
    }

    /// nullopt if the listener ended the comparison.
    std::optional<model::Comparison> compare(const model::Device& device, const Pair& pair,
                                             const compare::Rules& rules) {
        const InPhase phase(Phase::arrangements);
        try {
            Versus versus(runner_, plan_.request.settings, device.selector, pair.cells, {pair.left, pair.right});
            versus.run(plan_.options.comparison_seconds, rules, [&](const model::Comparison& so_far) {
                say_doing(report::comparison_progress(so_far));
                listener_.compared(so_far);
            });
            return versus.comparison();
        } catch (const ComparisonEnded& ended) {
            say_doing("");
            say(ended.why + ", so " + pair.left.id + " is not compared to the end");
            return std::nullopt;
        }
    }

    std::vector<portrait::Conclusion> conclusions() const {
        std::vector<portrait::Conclusion> out;
        for (const auto& device : devices_)
            for (auto& conclusion : portrait::conclude(sink_.records(), device)) out.push_back(std::move(conclusion));
        return out;
    }

    void print_pages() const {
        const auto& asked = plan_.options;
        if (asked.html.empty() && asked.markdown.empty() && asked.svg.empty() && asked.png.empty()) return;
        std::vector<std::string> verdicts, lines;
        for (const auto& pairs : pairs_)
            for (const auto& pair : pairs)
                if (pair.comparison) {
                    const auto words = report::comparison_text(*pair.comparison);
                    verdicts.push_back(words.substr(0, words.find('\n')));
                    lines.push_back(report::comparison_json(*pair.comparison));
                }
        write_pages(plan_.outputs, plan_.options, sink_.records(), conclusions(), verdicts, lines);
    }

    void print() {
        say_doing("");
        if (sink_.records().empty()) return;
        print_pages();
        if (!prints()) return;
        print_page(sink_.records(), conclusions(), lost_, false, plan_.options.columns, plan_.options.by_time);
        for (const auto& pairs : pairs_) print_pairs(results(), pairs, wants_colour());
        results().flush();
    }

    void print_timings() const {
        if (plan_.options.timings) plan_.timings->print(phases_of(sink_.records()));
    }

    /// Names of uncertain results, which --strict does not accept.
    std::vector<std::string> uncertain() const {
        std::vector<std::string> out;
        for (const auto& pairs : pairs_)
            for (const auto& pair : pairs)
                if (const auto& c = pair.comparison; !c || c->judgement.verdict == model::Verdict::undecided)
                    out.push_back((c ? c->left : pair.left.id) + " against " + (c ? c->right : pair.right.id) +
                                  " is undecided");
        using model::Warning;
        for (const auto& r : sink_.records())
            for (const auto w : {Warning::few_cores, Warning::throttled, Warning::not_settled, Warning::noise_floor})
                if (r.time && (!r.time->has_interval() || model::warns(r, w))) add_once(out, r.id + " is disturbed");
        if (plan_.paired) return out;
        const auto grid = report::device_grid(model::rows_of(sink_.records()), {}, {});
        for (const auto& family : grid.families)
            for (const auto& group : family.groups)
                for (std::size_t d = 0; d < grid.devices.size(); ++d) {
                    const auto timed = report::fastest_first(group, d);
                    if (timed.size() > 1 && !timed.front()->rank.fastest)
                        add_once(out, family.name + " has no fastest variant");
                }
        return out;
    }

    int status() const {
        const int out = status_of_cells();
        const auto open = plan_.options.strict && out == 0 ? uncertain() : std::vector<std::string>();
        if (open.empty()) return out;
        say("--strict: " + first_few(open, 4, std::identity()));
        return 5;
    }

    int status_of_cells() const {
        if (!lost_.empty()) return 3;
        const bool troubled = std::ranges::any_of(pairs_, [](const auto& pairs) {
            return std::ranges::any_of(pairs,
                                       [](const auto& p) { return p.comparison && !p.comparison->trouble.empty(); });
        });
        const auto& records = sink_.records();
        return troubled || std::ranges::any_of(records, [&](const auto& r) {
                   return model::is_failure(r.status) ||
                          (plan_.options.require_all && r.status == model::Status::unsupported);
               });
    }

    RunPlan& plan_;
    Runner& runner_;
    RunListener& listener_;
    Devices devices_;
    Sink sink_;
    BaselineWriter baseline_;
    Progress progress_;
    std::vector<std::vector<model::Record>> sides_;  ///< with --vs: records by group, on the current device
    std::vector<std::vector<Pair>> pairs_;           ///< by device
    std::vector<report::LostDevice> lost_;
    DumpedCode dumped_;
    Answers known_{};               ///< answers of `cllab behaviour` for the current device
    std::set<std::string> said_{};  ///< sentences about its options, already printed
    bool adds_lines_ = false;
    const Events events_{
        [this](std::size_t, std::size_t, const model::Record& record, const char* phase) { begin(record, phase); },
        [this](std::size_t group, std::size_t index, const model::Record& record) { done(group, index, record); }};
};

}  // namespace

int carry_out(RunPlan plan, Runner& runner, RunListener& listener) {
    return CellsRun(plan, runner, listener).carry_out();
}

int run_cells(const RunOptions& asked) {
    RunPlan plan(asked);
    if (!asked.check.empty() && !plan.choice.own())
        throw Error(Blame::usage, "--check applies to kernel files only, as in `cllab run my.cl --check`");
    plan.request = request_of(plan.choice, asked);
    plan.paired = !asked.versus.empty();
    RunListener nobody;
    std::optional<CellsRun> cells;  // empty until the plan is prepared; nothing is measured before
    const auto runner = plan.needs_isolation() ? in_child_processes(asked.timeout_seconds)
                                               : in_this_process(asked.timeout_seconds, [&](model::Record& stuck) {
                                                     if (cells) cells->give_up(stuck);
                                                 });
    cells.emplace(plan, *runner, nobody);
    return cells->carry_out();
}

namespace {

void check_dumps(const run::Settings& settings) {
    if (!settings.dumps) return;
    std::error_code code;
    std::filesystem::create_directories(*settings.dumps, code);
    if (code || access(settings.dumps->c_str(), W_OK) != 0)
        throw Error(Blame::environment, "dumps folder '" + settings.dumps->string() +
                                            "' cannot be written: " + (code ? code.message() : std::strerror(errno)) +
                                            "; use --dumps DIR for another folder, or --no-dumps");
}

/// Names that --columns accepts in addition to every table's columns.
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
        throw Error(Blame::usage, "--output needs one device, found ", devices.size(), "; select one with --device");
    for (const auto& device : devices)
        if (const bool simulated = device.implementation == model::Implementation::oclgrind;
            options.native && (simulated || !device.is_cpu()))
            throw Error(Blame::usage,
                        "option '--native' applies to CPU devices only; '" + excerpt(device.name) + "' is " +
                            (simulated ? "a simulator" : "of type " + std::string(model::name(device.type))));
}

/// Whether these selectors may name more than one device. Then each device works in a child process, so that a crash of
/// one driver loses no results of others.
bool may_be_several(const std::vector<std::string>& selectors) {
    return selectors.size() > 1 ||
           std::ranges::any_of(selectors, [](const auto& s) { return lower(s) == "all" || parse_integer(s); });
}

}  // namespace

RunPlan::RunPlan(const RunOptions& asked, const Snapshots& earlier)
    : options(asked), timings(std::make_unique<Timings>()), outputs(outputs_of(asked)), choice(asked, earlier) {}

/// A user's kernels may write anywhere or never end, and --vs runs each arrangement in its own process.
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
    choice.say_defaults(true, request.left_out);
    if (request.settings.measure) request.settings.limits = read_profiles(options.dumps, devices);
    outputs.open();
    return devices;
}

}  // namespace cllab::app
