// `cllab profile`: a device's figures as a page, and as the file that run, tune and why read.
#include "app/commands/profile.hpp"

#include <algorithm>

#include "app/commandline/groups.hpp"
#include "app/commands.hpp"
#include "app/files/profile_file.hpp"
#include "app/screen/streams.hpp"
#include "app/screen/timings.hpp"
#include "inspect/tools/dump.hpp"
#include "report/table/columns.hpp"
#include "run/measure.hpp"

namespace cllab::app {
int run_profile(const ProfileOptions& invocation) {
    const Timings timings;
    report::require_known_columns(invocation.columns, report::columns_of_command("profile"));
    catch_interrupts();
    auto runner = in_child_processes(invocation.timeout_seconds);
    bool failed = false;
    const auto devices = [&] {
        const InPhase phase(Phase::driver_start);
        return runner->devices(invocation.devices);
    }();
    // Text that is not the lab's own may write anywhere and never end, and a CPU's driver compiles in the process that
    // calls it, where an assertion of its compiler would end a whole profile. A GPU's takes too long to start for a
    // process a probe: 42 s became 57 (H200).
    const bool apart = invocation.isolate || !invocation.cl_dir.empty() ||
                       std::ranges::none_of(devices, [](const auto& device) { return device.is_gpu(); });
    if (!apart) runner = in_this_process(invocation.timeout_seconds);
    Phases of_cells;
    for (const auto& device : devices) {
        const auto file = profile_path(invocation.dumps, device);
        if (!invocation.no_dumps) {
            inspect::claim_device_folder(invocation.dumps, device, run::this_host().name);
            require_writable_profile(file);
        }
        const auto [profile, finished, lost] = measure_profile(invocation, *runner, device);
        const auto json = profile_json(profile);
        if (invocation.as_json)
            results() << json << '\n';
        else if (!invocation.no_page)
            (invocation.all || !invocation.columns.empty() ? print_profile : print_profile_head)(
                results(), profile, {wants_colour(), page_width(), invocation.columns});
        results().flush();
        add(of_cells, phases_of(profile.records));
        if (!finished) {
            const auto shown =
                "; the page shows the " + std::to_string(profile.records.size()) + " cells that were finished";
            if (!lost.empty()) throw Error(Blame::environment, lost + shown);
            say("interrupted" + shown);
            return 130;
        }
        if (!invocation.no_dumps) write_profile(file, json + "\n");
        for (const auto& record : profile.records) {
            if (!model::is_failure(record.status)) continue;
            failed = failed || !run::is_below_noise(record);
            say(record.id + " is " + model::name(record.status) + ": " + record.reason);
        }
    }
    if (invocation.timings) timings.print(of_cells);
    return failed ? 1 : 0;
}

namespace {

Rows<ProfileOptions> profile_rows() {
    Rows<ProfileOptions> rows;
    rows.list("device,d", "D", &ProfileOptions::devices,
              "Selects devices as `cllab run` does. Repeats. Default: the first GPU, else the first CPU.")
        .flag("quick", &ProfileOptions::quick,
              "Takes 20 s instead of 60 s: shorter samples, and the most important probes alone. The page names what "
              "had no time.")
        .text("dumps", "DIR", &ProfileOptions::dumps, "Writes profile.json below DIR.")
        .flag("no-dumps", &ProfileOptions::no_dumps, "Writes no file.")
        .with(text_rows())
        .flag("isolate", &ProfileOptions::isolate,
              "Runs each probe in a child process, so a driver that crashes or hangs costs one cell. Default where no "
              "device is a GPU.")
        .with(timings_rows())
        .with(process_rows())
        .flag("all", &ProfileOptions::all,
              "Prints every figure with its interval, the driver's own value and the method, and what was not found. "
              "--columns does, too.")
        .flag("json", &ProfileOptions::as_json, "Prints JSON instead of the page, with every curve.")
        .columns(&ProfileOptions::columns, about_columns(report::columns_of_command("profile")));
    return rows;
}

}  // namespace

Command profile_command() {
    return make_command<ProfileOptions>(
        manual_of("profile", "[--device D]", "a device's figures from all probes, on one page",
                  "cllab profile [--device D] [--quick] [--json]"),
        profile_rows(),
        [](ProfileOptions& options) {
            refuse_patterns(options, "`cllab profile` takes no PATTERN");
            if (options.quick) options.budget_seconds = ProfileOptions::quick_seconds;
        },
        run_profile);
}

}  // namespace cllab::app
