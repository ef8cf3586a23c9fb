// `cllab tune`: launch parameters that do not affect the result, tried and verified; the best few are measured again
// side by side before a winner is named. Every batch runs in a child process: a candidate that crashes or hangs the
// driver costs only itself.
#include "app/commands/tune.hpp"

#include <algorithm>

#include "app/commandline/groups.hpp"
#include "app/commands.hpp"
#include "app/commands/tuning.hpp"
#include "app/files/profile_file.hpp"
#include "app/running/opinions.hpp"
#include "app/screen/streams.hpp"
#include "core/text.hpp"

namespace cllab::app {
namespace {

void check_tune(TuneOptions& options) {
    need_pattern(options, "tune", "a PATTERN, e.g. 'pitch_*'; `cllab list` shows what there is");
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

int tune(const TuneOptions& asked, Runner& runner) {
    auto invocation = asked;
    const OpinionsFolder opinions(invocation);
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
        {"tune", "PATTERN...", "try launch parameters, name the fastest", "cllab tune PATTERN... [options]",
         "Tries launch parameters that do not affect the result, such as the work-group's shape, and names the fastest "
         "point of each variant. --axis lists the candidates of a tunable axis and fixes any other axis. Of a kernel "
         "file without an axis marked tune, work-groups are tried where neither the file nor the kernel says "
         "which one it is: powers of two from 32 to 4096 work-items, as far as the device and the sizes allow. Lines "
         "`where` of the file leave points out.\n\nUp to 300 distinct points, or as many as fit --budget, are all "
         "tried. From more, some are drawn at random, and the search continues from the fastest, one axis at a time. "
         "Each point is verified. The best few and the default are measured again in turns. The fastest is then held "
         "against the default and the runner-up as `cllab run --vs` does, and the page names the winner with the "
         "command that reproduces it. Ctrl-C prints the fastest so far; --resume goes on later.",
         "cllab tune himeno_wide --device gpu --axis size=M --axis local=32x4,64x4,128x2"},
        rows, check_tune, [](const TuneOptions& invocation) {
            return tune(invocation, *in_child_processes(invocation.timeout_seconds));
        });
}

}  // namespace cllab::app
