#include "app/commands/run.hpp"

#include <algorithm>

#include "app/choose/request.hpp"
#include "app/commandline/command.hpp"
#include "app/commandline/groups.hpp"
#include "app/commands/rebuild.hpp"
#include "app/screen/pager.hpp"
#include "core/error.hpp"
#include "core/text.hpp"

namespace cllab::app {
namespace {

Rows<RunOptions> shown_rows(bool measures) {
    Rows<RunOptions> rows;
    rows.text("dumps", "DIR", &RunOptions::dumps, "Writes source, binary, disassembly and records below DIR.")
        .flag("no-dumps", &RunOptions::no_dumps, "Writes no dumps.")
        .text("json", "FILE", &RunOptions::json, "Writes one JSON record per cell, as soon as the cell is done.")
        .text("csv", "FILE", &RunOptions::csv, "Writes one CSV line per cell, as soon as the cell is done.");
    if (measures)
        rows.text("html", "FILE", &RunOptions::html,
                  "Writes an HTML page at the end: charts, tables, and the code beside the time.");
    rows.columns(&RunOptions::columns, about_columns())
        .named("input", "NAME=FILE", &RunOptions::inputs,
               "Uses an image file (PNG, JPEG, PGM; grey or colour) as the buffer NAME, e.g. src=panel.png.")
        .named("output", "NAME=FILE", &RunOptions::outputs,
               "Writes the buffer NAME as a picture (.png or .pgm), e.g. dst=map.png. Needs a run of one cell.")
        .whole("count-above", "LEVEL", {0, 255, "grey levels from 0 to 255"}, &RunOptions::count_above,
               "Counts and lists the pixels brighter than LEVEL (0 to 255) in the picture that --output would write: "
               "the defects that pitch finds.")
        .with(label_rows())
        .flag("timings", &RunOptions::timings, "Prints on stderr where the command's time went, by phase and by cell.")
        .with(replace_rows("--json or --csv"));
    return rows;
}

Rows<RunOptions> measured_rows() {
    Rows<RunOptions> rows;
    rows.number("max-time", "SECONDS", any_seconds, &RunOptions::max_time, "0.4",
                "Maximum sampling time per cell. Sampling stops early once the median is known to within 1 %. With "
                "--vs: maximum time for all arrangements of one pair (default 10; up to four times that when an "
                "interval needs more of them).")
        .text(
            "vs", "PATTERN", &RunOptions::versus,
            "Compares one variant with this one over arrangements. Each is a fresh process with its own order, buffer "
            "placement and inputs, in which both take turns on the same memory. Prints a verdict with its interval "
            "and, as a control, each variant against itself; then registers, counts, and side by side the innermost "
            "loop of each that does the most work. A value that begins with '-' is build options, as in "
            "--vs=-cl-mad-enable: the variant as it is and built with them. -x cuda among them (NVIDIA) compiles the "
            "text as CUDA C++ by NVRTC and runs it by OpenCL.")
        .text(
            "baseline", "DIR", &RunOptions::baseline,
            "Keeps each record, and each kernel text once by its hash, below DIR, for `cllab regress DIR`. An existing "
            "baseline is kept; --force replaces it, --append adds this run.")
        .word("cache", "STATE", {"hot", "cold", "rotate"}, &RunOptions::cache,
              "What the caches hold before each operation. hot: what the operation before left there. cold: nothing of "
              "the buffers; 4 times the last-level cache of other memory is read in between. rotate: nothing of the "
              "buffers; operations cycle through copies of them totalling 4x the last-level cache. `cllab profile` "
              "measures the size of that cache.")
        .flag("verify", &RunOptions::verify_only, "Verifies and dumps only; takes no time measurements.")
        .flag("steps", &RunOptions::steps,
              "Also times each part of an operation that has several (transfers, sweep, residual, copy, passes), the "
              "time between them (step_between) and the whole (step_whole), in separate runs with an event per part.")
        .number("hot", "SECONDS", {0, 3600, "seconds from 0 to 3600"}, &RunOptions::hot_seconds, "",
                "CPU devices: after the timing, runs each cell for SECONDS and samples which instructions run, for "
                "isa.txt and the record. 0 skips it. Default: 0.05 where dumps are written. Skips a cell whose "
                "operation takes three times as long.")
        .flag("no-yardstick", &RunOptions::no_yardstick,
              "Leaves out the yardstick behind the column 'of copy': a copy of as many bytes as the cell's data, timed "
              "in the same rounds with the caches in the same state.")
        .flag(
            "native", &RunOptions::native,
            "CPU devices: adds rows for hand-written C++ loops, on one thread and on one per core, checked against the "
            "same reference and timed in the same rounds by the host clock. Families that have them: " +
                join(native_families(), ", ") + ".")
        .whole("rebuild", "N", {2, 1000, "whole numbers from 2 to 1000"}, &RunOptions::rebuild,
               "Builds each cell N times, each in a fresh program with its own addresses and an empty compile cache, "
               "and runs each build in two processes. Prints how often each machine code came out, its time, and how "
               "much of the spread lies between codes, between arrangements of one code, and within one.")
        .word("parallel", "WHICH", {"never", "gpus", "all"}, &RunOptions::parallel,
              "Which devices measure at the same time, each in a process of its own: never; gpus, those with memory of "
              "their own; all. Applies from four comparisons on. Two probe cells are measured on each device alone and "
              "then together. If either slows down by more than 2 % (and 1 us), the devices run one at a time.")
        .word(
            "check", "TOOL", {"oclgrind"}, &RunOptions::check,
            "Kernel files: runs each kernel once, small, in Oclgrind. Reports races, uninitialised reads and accesses "
            "outside of buffers, with their lines.")
        .flag(
            "watch", &RunOptions::watch,
            "Kernel files, and families with --cl-dir: on each save builds and verifies the text, compares it with the "
            "version before as --vs does, and shows how the code differs. The table comes before the verdict, and a "
            "newer save ends a comparison. On a CPU up to 12 processes wait for the next save. Ends when interrupted.")
        .text(
            "replay", "DIR", &RunOptions::replay,
            "Runs the kernel that the OpenCL Intercept Layer captured in DIR (CLI_CaptureReplay=1) with its arguments, "
            "and checks the results against the captured ones.");
    return rows;
}

Rows<RunOptions> run_rows(bool measures) {
    Rows<RunOptions> rows;
    rows.with(pager_rows()).with(choice_rows());
    rows.add({"points", "WHICH", "Points to run on axes you did not set: all, or only the first value of each.", "all"},
             [](RunOptions& to, const std::string& text) {
                 if (word_of("points", text, {"all", "first"}) == "first") to.points = model::Points::first;
             });
    if (measures) rows.with(measured_rows());
    rows.with(shown_rows(measures))
        .with(text_rows())
        .flag("isolate", &RunOptions::isolate,
              "Runs each device's work in a child process: a driver that crashes or hangs costs one cell.")
        .whole("processes", "N", {1, 64, "whole numbers from 1 to 64"}, &RunOptions::processes,
               "Shares work that takes no measurements (dump, --verify) among N processes of each device, as far as "
               "memory allows. A driver that crashes or hangs costs one cell. Default: one for 4 cores of the host and "
               "16 cells, 4 at most.")
        .with(process_rows())
        .flag("require-all", &RunOptions::require_all, "Counts unsupported cells as failed.")
        .with(kernel_file_rows());
    return rows;
}

void refuse_together(const RunOptions& options) {
    const bool measures_only_once =
        options.versus.empty() && !options.rebuild && options.check.empty() && !options.watch;
    if (options.processes > 1 && (!options.verify_only || !measures_only_once))
        throw Error(
            Blame::usage,
            "--processes is for work that takes no measurements: `cllab dump`, and `cllab run --verify` without --vs, "
            "--rebuild, --check and --watch");
    if (options.native && (!measures_only_once || !options.baseline.empty() || !options.replay.empty()))
        throw Error(Blame::usage,
                    "--native adds rows to a table, so --vs, --rebuild, --baseline, --check, --watch and --replay "
                    "cannot stand beside it");
    if (options.rebuild && !(options.csv.empty() && options.baseline.empty() && options.outputs.empty()))
        throw Error(Blame::usage,
                    "--rebuild writes the records of its processes to --json only, so --csv, --output and --baseline "
                    "cannot stand beside it");
}

void check_run(RunOptions& options) {
    refuse_together(options);
    if (!options.replay.empty()) {
        refuse_patterns(options, "option '--replay' says what to run, so no PATTERN can stand beside it");
        options.patterns = {options.replay};
    }
    if (options.max_time && options.versus.empty()) {
        options.sampling_seconds = *options.max_time;
        options.comparison_seconds = std::min(options.comparison_seconds, 25 * *options.max_time);
    } else if (options.max_time) {
        options.comparison_seconds = *options.max_time;
    }
    need_pattern(options, options.verify_only ? "dump" : "run",
                 "a PATTERN, e.g. 'pitch_*'; `cllab list` shows what there is");
}

void check_dump(RunOptions& options) {
    options.verify_only = true;
    check_run(options);
}

int run_or_watch(const RunOptions& options) {
    if (options.rebuild) return rebuild_on_devices(options);
    if (options.watch) {
        allow_pager(false);  // somebody waits for the next lines
        return watch(options);
    }
    if (!options.check.empty()) return check_oclgrind(options);
    return run_cells(options);
}

const Manual run_manual{
    "run",
    "PATTERN...",
    "verify, time, dump",
    "cllab [run] [PATTERN...] [options]",
    "Verifies each kernel variant against independent host code, times it, and writes its binary and disassembly "
    "beside "
    "the time. A PATTERN is a shell glob over <family>_<variant>, a family's name, or a kernel file of your own, as in "
    "my.cl or my.cl:kernel: `cllab help kernel-file` explains those.\n\n"
    "Several devices run one after the other (but see --parallel), each in a child process as with --isolate, because "
    "CPU devices and simulators share the host's cores. A last table has a column per device, and a sentence where the "
    "ranking differs. A device whose driver crashes is lost alone; the exit status is then 3.",
    "cllab run 'pitch_*' --device cpu --axis width=4096,8192 --json results.jsonl"};

const Manual dump_manual{
    "dump",
    "PATTERN...",
    "build, verify once, dump; no timing",
    "cllab dump PATTERN... [options]",
    "Builds each variant, verifies it once so that the driver makes the code it would run, and writes source, options, "
    "build log, binary, disassembly and statistics. Takes no time measurements.",
    "cllab dump pitch_short8 --device cpu"};

}  // namespace

Command run_command() { return make_command<RunOptions>(run_manual, run_rows(true), check_run, run_or_watch); }

Command dump_command() {
    return make_command<RunOptions>(dump_manual, run_rows(false), check_dump,
                                    [](const RunOptions& options) { return run_cells(options); });
}

RunOptions run_options_of(const Strings& argv) {
    Strings words(argv.begin() + std::min<std::ptrdiff_t>(1, static_cast<std::ptrdiff_t>(argv.size())), argv.end());
    const bool dump = !words.empty() && words.front() == "dump";
    if (!words.empty() && (dump || words.front() == "run")) words.erase(words.begin());
    const auto rows = run_rows(!dump);
    auto out = options_from(rows, read_words(dump ? dump_manual : run_manual, rows.rows(), words), argv);
    out.command = dump ? "dump" : "run";
    dump ? check_dump(out) : check_run(out);
    return out;
}

}  // namespace cllab::app
