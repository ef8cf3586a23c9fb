// `cllab profile`: a device's figures as a page, and as the file that run, tune and why read.
#include "app/commands/profile.hpp"

#include <chrono>
#include <ranges>
#include <utility>

#include "app/commands/command_file.hpp"
#include "core/clock.hpp"
#include "inspect/tools/dump.hpp"
#include "portrait/probes.hpp"
#include "run/measure.hpp"

namespace cllab::app {
namespace {

void print_page_of(const ProfileOptions& invocation, const portrait::Profile& profile, const std::string& json) {
    if (invocation.as_json)
        results() << json << '\n';
    else if (!invocation.no_page)
        (invocation.all || !invocation.columns.empty() ? print_profile : print_profile_head)(
            results(), profile, {wants_colour(), page_width(), invocation.columns});
    results().flush();
}

int print_saved(const ProfileOptions& invocation, Runner& runner) {
    for (const auto& device : runner.devices(invocation.devices)) {
        const auto path = profile_path(invocation.dumps, device);
        if (std::error_code unknown; !std::filesystem::exists(path, unknown))
            throw Error(Blame::usage, "profile '", path.string(), "' not found; `cllab profile` measures it");
        try {
            const auto text = profile_text(path);
            print_page_of(invocation, page_from(text, device), trim(text));
        } catch (const Error& e) {
            throw Error(e.blame(), "profile '", path.string(), "' ", e.what());
        }
    }
    return 0;
}

std::size_t cells_of(const std::vector<model::Group>& plan) {
    return static_cast<std::size_t>(std::ranges::distance(plan | std::views::join));
}

/// Runs the probes of a device one after another, each within its time.
class Profiler {
public:
    Profiler(const ProfileOptions& invocation, Runner& runner, const model::Device& device)
        : invocation_(invocation), runner_(runner) {
        profile_.device = device;
        profile_.budget_seconds = invocation.budget_seconds;
        profile_.utc = utc_now();
    }

    MeasuredProfile measure() && {
        const auto start = Clock::now();
        const auto probes = portrait::probes_for(profile_.device);
        for (const auto& probe : probes) total_ += cells_of(portrait::plan_of(probe.parts, probe.interleave));
        bool finished = true;
        for (const auto& probe : probes) {
            const double left = invocation_.budget_seconds - seconds_since(start);
            finished = run_probe(probe, left);
            if (!finished) break;
        }
        say_doing("");
        profile_.seconds = seconds_since(start);
        profile_.conclusions = portrait::conclude(profile_.records, profile_.device);
        return {std::move(profile_), finished, std::move(lost_)};
    }

private:
    /// Returns false if interrupted, or if the device is lost. `left`: seconds left for the whole profile.
    bool run_probe(const portrait::Probe& probe, double left) {
        const auto whole = format_seconds(invocation_.budget_seconds);
        if (left <= 0) {
            profile_.skipped[probe.family] = "not measured: the " + whole + " of the profile ended before its turn";
            return true;
        }
        const auto plan = portrait::plan_of(probe.parts, probe.interleave);
        const std::size_t cells = cells_of(plan), before = profile_.records.size();
        if (!run_plan(plan, std::min(left, probe.seconds))) return false;
        if (const auto measured = profile_.records.size() - before; measured < cells)
            profile_.skipped[probe.family] =
                fmt::format("not measured: {} of its {} cells had no time within {}", cells - measured, cells,
                            left < probe.seconds ? "the " + whole + " of the profile" : format_seconds(probe.seconds));
        return true;
    }

    /// Adds the records of the cells that were measured, in the plan's order. Returns false as run_probe().
    bool run_plan(const std::vector<model::Group>& plan, double seconds) {
        run::RunRequest request{std::nullopt, plan, settings_of(invocation_)};
        auto& settings = request.settings;
        const std::chrono::duration<double> time(seconds);
        settings.ends = Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
        // The device is warm from the previous cell.
        settings.continues_run = true;
        // A GPU's compiler reports registers and spills, which are figures. Reading a CPU's code takes as long as
        // measuring.
        settings.read_code = profile_.device.is_gpu();
        settings.sampling_seconds = invocation_.budget_seconds < ProfileOptions::whole_seconds ? 0.02 : 0.05;
        settings.warm_seconds = 0.2 * settings.sampling_seconds;
        std::map<run::CellNumber, model::Record> done;
        const Events events{[&](std::size_t, std::size_t, const model::Record& record, const char* phase) {
                                show(done.size(), record, phase);
                            },
                            [&](std::size_t group, std::size_t index, const model::Record& record) {
                                done[{group, index}] = record;
                            }};
        bool finished = true;
        try {
            runner_.run(request, profile_.device.selector, events);
        } catch (const run::Interrupted&) {
            finished = false;
        } catch (const DeviceLost& e) {  // a new process would not help
            finished = false;
            lost_ = e.what();
        }
        for (auto& [at, record] : done) profile_.records.push_back(std::move(record));
        return finished;
    }

    void show(std::size_t done, const model::Record& record, const char* phase) {
        if (seconds_since(shown_) < 0.1) return;
        shown_ = Clock::now();
        say_doing(fmt::format("[{}/{}] {}: {}", profile_.records.size() + done + 1, total_, record.id, phase));
    }

    const ProfileOptions& invocation_;
    Runner& runner_;
    portrait::Profile profile_;
    std::string lost_;
    std::size_t total_ = 0;
    Clock::time_point shown_{};
};

Rows<ProfileOptions> profile_rows() {
    Rows<ProfileOptions> rows;
    rows.list("device,d", "D", &ProfileOptions::devices)
        .flag("quick", &ProfileOptions::quick)
        .text("dumps", "DIR", &ProfileOptions::dumps)
        .flag("force", &ProfileOptions::force)
        .flag("no-dumps", &ProfileOptions::no_dumps)
        .with(text_rows())
        .flag("isolate", &ProfileOptions::isolate)
        .with(timings_rows())
        .with(process_rows())
        .flag("all", &ProfileOptions::all)
        .flag("saved", &ProfileOptions::saved)
        .flag("json", &ProfileOptions::as_json)
        .columns(&ProfileOptions::columns, about_columns(report::columns_of_command("profile")));
    return rows;
}

}  // namespace

int run_profile(const ProfileOptions& invocation) {
    const Timings timings;
    report::require_known_columns(invocation.columns, report::columns_of_command("profile"));
    catch_interrupts();
    auto runner = in_child_processes(invocation.timeout_seconds);
    if (invocation.saved) return print_saved(invocation, *runner);
    bool failed = false;
    const auto devices = [&] {
        const InPhase phase(Phase::driver_start);
        return runner->devices(invocation.devices);
    }();
    // A user's kernels may write anywhere or never end. A CPU's driver compiles in the process that calls it, and a
    // failed assertion of the compiler would end the whole profile. So each probe gets a child process. On a GPU the
    // driver starts too slowly for that: a profile took 57 s instead of 42 s (H200).
    const bool apart = invocation.isolate || !invocation.cl_dir.empty() ||
                       std::ranges::none_of(devices, [](const auto& device) { return device.is_gpu(); });
    if (!apart) runner = in_this_process(invocation.timeout_seconds);
    Phases of_cells;
    for (const auto& device : devices) {
        const auto root = invocation.dumps.empty() ? profiles_folder() : std::filesystem::path(invocation.dumps);
        const auto file = inspect::device_folder(root, device, run::this_host().name) / "profile.json";
        if (!invocation.no_dumps) {
            inspect::claim_device_folder(root, device, run::this_host().name);
            require_writable_profile(file);
        }
        const auto [profile, finished, lost] = measure_profile(invocation, *runner, device);
        const auto json = profile_json(profile);
        print_page_of(invocation, profile, json);
        add(of_cells, phases_of(profile.records));
        if (!finished) {
            const auto shown =
                "; the page shows the " + std::to_string(profile.records.size()) + " cells that were finished";
            if (!lost.empty()) throw Error(Blame::environment, lost + shown);
            say("interrupted" + shown);
            return 130;
        }
        if (!invocation.no_dumps) {
            if (const auto more = invocation.force ? "" : more_figures(file, json); more.empty())
                write_profile(file, json + "\n");
            else
                say("the profile at '" + file.string() + "' stays: " + more + "; --force replaces it");
        }
        for (const auto& record : profile.records) {
            if (!model::is_failure(record.status)) continue;
            failed = failed || !run::is_below_noise(record);
            say(record.id + " is " + model::name(record.status) + ": " + record.reason);
        }
    }
    if (invocation.timings) timings.print(of_cells);
    return failed ? 1 : 0;
}

Command profile_command() {
    return make_command<ProfileOptions>(
        manual_of("profile"), profile_rows(),
        [](ProfileOptions& options) {
            refuse_patterns(options, "`cllab profile` takes no PATTERN");
            if (options.saved && (options.quick || options.force || options.no_dumps))
                throw Error(Blame::usage, "--saved cannot be combined with --quick, --force or --no-dumps");
            if (options.quick) options.budget_seconds = ProfileOptions::quick_seconds;
        },
        run_profile);
}

MeasuredProfile measure_profile(const ProfileOptions& invocation, Runner& runner, const model::Device& device) {
    return Profiler(invocation, runner, device).measure();
}

}  // namespace cllab::app
