#include "app/commandline/option_list.hpp"

#include "app/choose/request.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "report/records/exports.hpp"
#include "report/table/columns.hpp"
#include "report/table/table.hpp"

namespace cllab::app {

const std::vector<Statement> statements{
    {"arg", "NAME=VALUE",
     "Of a kernel file: gives an argument, e.g. src=rand:n*n. Repeats. See `cllab help kernel-file`."},
    {"global", "X[,Y[,Z]]", "Of a kernel file: work-items, as expressions over axes and scalar arguments."},
    {"local", "X[,Y[,Z]]", "Of a kernel file: work-items per group. Default: the driver's choice."},
    {"offset", "X[,Y[,Z]]", "Of a kernel file: offset of the global ids."},
    {"variant", "NAME=OPTIONS",
     "Of a kernel file: makes one more variant by build options, e.g. fast=-DTILE=32. Repeats."},
    {"extends", "FOLDER", "Of a kernel file: also looks for #include files in FOLDER. Repeats."},
    {"work", "bytes=N flops=N", "Of a kernel file: what a launch must move and compute, for the rates."},
    {"expect", "NAME=FILE", "Of a kernel file: an argument must come out equal to FILE (.npy, raw, picture). Repeats."},
    {"reference", "KERNEL", "Of a kernel file: results must equal those of this kernel or variant."},
    {"tolerance", "KIND=X",
     "How far results may be from the expected ones: absolute=X, relative=X or ulp=X; a result within one of those "
     "given is right. Adds the largest errors."},
};

namespace {

namespace po = boost::program_options;

using Options = po::options_description_easy_init;

auto* list(const char* value) { return po::value<std::vector<std::string>>()->composing()->value_name(value); }
auto* text(const char* value) { return po::value<std::string>()->value_name(value); }
auto* text(const char* value, const char* otherwise) { return text(value)->default_value(otherwise); }
auto* count(const char* value) { return po::value<unsigned>()->value_name(value); }
auto* number(const char* value, double otherwise) {
    return po::value<double>()->value_name(value)->default_value(otherwise, format_exact(otherwise));
}

std::string about_columns() {
    return "Shows these columns of the table, separated by commas, e.g. time,regs,dump; all shows every one, however "
           "wide. Name and status are always shown. "
           "The columns: " +
           join(report::column_names(), ", ") +
           ", and the axes and metrics that `cllab describe` names. Default: those that fit the terminal, or 80 "
           "columns where there is none; a line "
           "names the others.";
}
/// --columns of a table whose columns are always the same.
std::string about_columns_of(const std::vector<std::string>& names) {
    return "Shows these columns, separated by commas; all shows every one, however wide: " + join(names, ", ") +
           ". Default: those that fit the terminal, or 80 columns where there is none; a line names the others.";
}
constexpr auto replaces =
    "Replaces an output file that exists. Without it such a file is kept and the command refused.";

void add_statements(Options& add) {
    for (const auto& [option, value, about] : statements)
        add(option == std::string("extends") ? "extends,I" : option, list(value), about);
}

void add_isa(Options& add) {
    add("kernel,k", list("PATTERN"), "Selects variants, like a positional PATTERN. Repeats.");
    add("target,t", list("T"),
        "Compiles for processor T, e.g. gfx900, gfx1030, sm_80, sm_90, tgllp, pvc. Several targets make one table. "
        "Repeats.");
    add("targets", "Lists the processors, what this machine can make for each, and what would enable the rest.");
    add("device,d", list("D"), "Builds and runs once on a device, selected as in `cllab run`.");
    add("vs", text("PATTERN"),
        "Compares with this variant: registers, counts, and side by side the innermost loop of each that does the most "
        "work. "
        "What begins with '-' is build options, as in --vs=-cl-mad-enable: the variant as it is and built with them.");
    add("rebuild", count("N"),
        "Compiles N times with --target, each in a fresh program with its own addresses, and prints how often each "
        "code came out.");
    add("hot",
        "Shows only the code that runs. On a CPU device: runs the kernel for a second and samples the addresses; each "
        "loop and "
        "path has its share. On NVIDIA with Nsight Compute (ncu): launches the kernel again through the CUDA driver "
        "and counts how often each "
        "instruction is executed. Elsewhere: the one loop or path, if there is one, that accounts for the declared "
        "work. With --vs puts "
        "the hot code of both sides beside each other.");
    add("source",
        "Prints each source line above its instructions. The lines are those of a second build with line information, "
        "and are shown "
        "only where its code is the same.");
    add("live",
        "Prints the instructions with the number of live registers beside each: those that hold a value which may be "
        "read later, or that "
        "the instruction writes, by kind; in front stands where most are live. Of GCN, SASS, PTX and x86; unknown "
        "where one instruction has no "
        "rule, or another function is called. With --hot: of the code that runs; with --summary: only where most are "
        "live.");
    add("width", count("N"), "Cuts lines at N columns, at least 40. Default: the lines as they are.");
    add("summary", "Prints all but the instructions.");
    add("columns", text("LIST"), about_columns_of(report::columns_of_command("isa")).c_str());
    add("axis,a", list("NAME=VALUES"),
        "Redefines an axis, as in `cllab run`. Without it each variant is shown at its first point.");
    add("dumps", text("DIR"), "Also writes source, binary, code and statistics below DIR.");
    add("cl-dir", text("DIR"), "Reads the kernel text from DIR/<family>.cl, as in `cllab run`.");
    add("build-options", text("TEXT"), "Appends TEXT to the build options of every kernel.");
    add("require-all", "Counts variants that the target cannot have as failed.");
    add_statements(add);
}

/// What run, dump, tune and why have in common, in front of what each has for itself.
void add_cells(Options& add, const std::string& command) {
    const bool why = command == "why", few = command == "tune" || why;
    add("kernel,k", list("PATTERN"), "Selects variants, like a positional PATTERN. Repeats.");
    add("device,d", list("D"),
        "Selects devices: cpu, gpu, accelerator (the first of that type whose timer can be trusted), all, P or P:D "
        "(clinfo's indices), or part of a name. Repeats. Default: the first GPU, else the first CPU.");
    add("axis,a", list("NAME=VALUES"),
        "Redefines an axis: a list (width=1024,2048), a geometric range (size=1Ki:1Mi:*2) or a stepped one "
        "(items=1:9:+2). Repeats. See `cllab describe FAMILY`. Every family has the axis options: "
        "options=,-cl-fast-relaxed-math,-cl-opt-disable builds each kernel without and with either build option.");
    if (!few)
        add("points", text("WHICH", "all"),
            "Which values of the axes that no --axis names: all, or the first of each. So --points first takes each "
            "kernel once.");
    add_statements(add);
    if (!few) {
        add("input", list("NAME=FILE"),
            "Uses an image file (PNG, JPEG, PGM; grey or colour) as the buffer NAME, e.g. src=panel.png.");
        add("output", list("NAME=FILE"),
            "Writes the buffer NAME as a picture (.png or .pgm), e.g. dst=map.png. Needs a run of one cell.");
        add("count-above", count("LEVEL"),
            "Counts and lists the pixels brighter than LEVEL (0 to 255) in the picture that --output would write: the "
            "defects that pitch finds.");
        add("dumps", text("DIR", "dumps"), "Writes source, binary, disassembly and records below DIR.");
        add("no-dumps", "Writes no dumps.");
    }
    add("cl-dir", text("DIR"),
        "Reads the kernel text from DIR/<family>.cl instead of the text embedded in the program: edit and run, "
        "no rebuild. Runs it in a child process, as --isolate does.");
    add("build-options", text("TEXT"), "Appends TEXT to the build options of every kernel, e.g. -cl-opt-disable.");
    add("json", text("FILE"),
        why ? "Writes the JSON record of each cell, and a line of what limits it."
            : "Writes one JSON record per cell, as soon as the cell is done.");
    if (!why) add("csv", text("FILE"), "Writes one CSV line per cell, as soon as the cell is done.");
    if (command == "run")
        add("steps",
            "Also times each part of an operation that has several (transfers, sweep, residual, copy, passes), what "
            "lies between them (step_between) "
            "and the whole (step_whole), in runs of their own with an event for each part.");
    if (command == "run" || command == "dump") add("columns", text("LIST"), about_columns().c_str());
    if (command == "run")
        add("native", ("On CPU devices: adds rows for hand-written C++ loops, on one thread and on one per core, "
                       "checked against the same reference and "
                       "timed in the same rounds as the kernels, by the host clock. Families that have them: " +
                       join(native_families(), ", ") + ".")
                          .c_str());
    if (command == "run")
        add("html", text("FILE"), "Writes an HTML page at the end: charts, tables, and the code beside the time.");
    if (!few) {
        add("processes", count("N"),
            "Shares work that takes no measurements (dump, --verify) among N processes of each device, while there is "
            "memory for what they do at the same "
            "time. A driver that crashes or hangs costs one cell. Default: one for 4 cores of the host and 16 cells, 4 "
            "at most.");
        add("isolate", "Runs each device's work in a child process: a driver that crashes or hangs costs one cell.");
        add("timings", "Prints on standard error where the time of the command went, by phase and by cell.");
    }
    add("timeout", number("SECONDS", 60),
        "Ends a cell that shows no progress for SECONDS as timed_out. With --isolate the run goes on; without it the "
        "program stops there, with everything finished on disk.");
    add("seed", text("N"), "Seeds the random inputs. Default: a fresh seed each run. The record says which.");
    add("label", text("TEXT"),
        "Writes TEXT into every record, to tell runs apart later, e.g. 'before the change'. At most 200 bytes.");
    if (!few) add("require-all", "Counts unsupported cells as failed.");
    add("force", few ? replaces
                     : "Replaces a file of --json, --csv, --html or --output that exists. Without it such a file is "
                       "kept and the run refused.");
    add("append", why ? "Adds to a file of --json that exists."
                      : "Adds to a file of --json or --csv that exists; CSV gets no second header.");
}

void add_run(Options& add) {
    add("max-time", number("SECONDS", 0.4),
        "Caps the sampling of one cell, which ends earlier when the median is known within 1 %. With --vs, caps all "
        "arrangements of one pair instead (default 10; up to four times that when an interval needs more "
        "arrangements), "
        "which end earlier when the ratio is known within 0.5 %.");
    add("baseline", text("DIR"),
        "Keeps each record, and each kernel text once by its hash, below DIR, for `cllab regress DIR`. A baseline that "
        "exists "
        "is kept; --force replaces it, --append adds this run.");
    add("cache", text("STATE", "hot"),
        "What the caches hold before each operation. hot: what the operation before left there. cold: nothing of the "
        "buffers, "
        "because other memory of 4 times the last-level cache is read in between. rotate: nothing of the buffers "
        "either, because "
        "operations cycle through copies of them that total 4 times the last-level cache. The size of that cache is "
        "the "
        "profile's where `cllab profile` left one below --dumps.");
    add("parallel", text("WHICH", "gpus"),
        "Which of several devices measure at the same time, each in a process of its own: never; gpus, those with "
        "memory of their own; "
        "all. From four comparisons on. The first cell of the first and of the last comparison are measured on each "
        "device alone and again "
        "beside the others; where one takes longer by more than 2 % and a microsecond, the devices run one after the "
        "other.");
    add("hot", po::value<double>()->value_name("SECONDS"),
        "On CPU devices: after the timing, runs each cell for SECONDS and samples which instructions run, for isa.txt "
        "and the record. "
        "0 skips it. Default: 0.05 where dumps are written. Skips a cell whose operation takes three times as long.");
    add("verify", "Verifies and dumps only; takes no time measurements.");
    add("check", text("TOOL"),
        "Of a kernel file: TOOL is oclgrind. Runs each kernel once, small, in Oclgrind and reports races, "
        "uninitialised reads and "
        "accesses outside of buffers, with their lines.");
    add("watch",
        "Of a kernel file, or with --cl-dir of a family's: on each save builds and verifies it, compares it with the "
        "version before "
        "as --vs does, and shows how the code differs. The table comes before the verdict, and a newer save ends a "
        "comparison. On a CPU up to "
        "12 processes wait for the next save with the device open. Goes on until interrupted.");
    add("replay", text("DIR"),
        "Runs the kernel that the OpenCL Intercept Layer captured in DIR (CLI_CaptureReplay=1), with its arguments, "
        "and checks the "
        "results against those captured.");
    add("vs", text("PATTERN"),
        "Compares one variant with this one over arrangements: each a fresh process with its own order, placement of "
        "buffers "
        "and inputs, in which both take turns on the same memory. Prints a verdict with its interval and, as a "
        "control, each "
        "variant against itself, built once more; then registers, counts, and side by side the innermost loop of each "
        "that does the most work. "
        "What begins with '-' is build options, as in --vs=-cl-mad-enable: the variant as it is and built with them. "
        "With -x cuda, on "
        "NVIDIA, the text is compiled as CUDA C++ by NVRTC and run by OpenCL.");
    add("rebuild", count("N"),
        "Builds each cell N times, each in a fresh program with its own addresses and an empty compile cache, runs "
        "each build in two "
        "processes, and prints how often each machine code came out, its time, and how much of the spread is between "
        "codes, between "
        "arrangements of one code, and within one.");
    add("no-yardstick",
        "Leaves out the yardstick, which gives the column 'of copy': a copy of as many bytes as the cell's data, timed "
        "in the same "
        "rounds and with the caches in the same state.");
}

void add_regress(Options& add) {
    add("device,d", list("D"),
        "Runs both sides on this device, which must be of the baseline's platform and type. Default: the baseline's "
        "own.");
    add("threshold", number("PERCENT", 2),
        "Calls a cell slower when it takes longer by more than PERCENT, beyond the interval.");
    add("strict", "Ends with status 5 when a cell is undecided and none is slower.");
    add("results-may-change",
        "Times a cell whose text of today leaves other results than the baseline's, instead of ending with status 4 "
        "for "
        "it. Each side must still be right by its own reference or file.");
    add("recorded",
        "Compares with the stored times instead of building the stored text again, for two machines or two drivers. A "
        "weaker claim: "
        "whatever else changed between the runs is part of the difference. Needs several runs in the baseline "
        "(--append).");
    add("calibrate",
        "Compares the baseline with itself: prints how many false alarms there were, and the smallest slowdown that "
        "would "
        "have been found.");
    add("history",
        "Takes BASE and PATTERN as files of records instead, and prints where a cell's time changed its level from run "
        "to run. "
        "`cllab report --html` draws it.");
    add("max-time", number("SECONDS", 10),
        "Caps the arrangements of one cell until it is first looked at; up to four times that when an interval needs "
        "more arrangements.");
    add("cl-dir", text("DIR"),
        "Reads today's text from DIR/<family>.cl. Default: where the baseline's command line reads it from.");
    add("build-options", text("TEXT"),
        "Appends TEXT to the build options of today's side. Default: as in the baseline's command line.");
    add("json", text("FILE"), "Writes one JSON line per cell and one for the whole.");
    add("columns", text("LIST"), about_columns_of(report::columns_of_command("regress")).c_str());
    add("junit", text("FILE"),
        "Writes JUnit XML: slower, other results and incomparable are failures, wrong or failing is an error.");
    add("timeout", number("SECONDS", 60), "Ends a cell that shows no progress for SECONDS.");
    add("seed", text("N"), "Seeds inputs, orders and placements. Default: a fresh one each run.");
    add("force", "Replaces an output file that exists. Without it such a file is kept and the command refused.");
    add("append", "Adds to a file of --json that exists.");
}

void add_profile(Options& add) {
    add("device,d", list("D"),
        "Selects devices as for `cllab run`. Repeats. Default: the first GPU, else the first CPU.");
    add("budget", number("SECONDS", 60),
        "Shares SECONDS out among the probes of a device. The page names what does not fit, and why.");
    add("dumps", text("DIR", "dumps"), "Writes profile.json below DIR.");
    add("no-dumps", "Writes no file.");
    add("cl-dir", text("DIR"), "Reads the kernel text from DIR/<family>.cl.");
    add("build-options", text("TEXT"), "Appends TEXT to the build options of every kernel.");
    add("isolate",
        "Runs each probe in a child process: a driver that crashes or hangs costs one cell. Default where no device is "
        "a GPU.");
    add("timings", "Prints on standard error where the time of the command went, by phase and by cell.");
    add("timeout", number("SECONDS", 60), "In a child process, ends a cell that shows no progress for SECONDS.");
    add("seed", text("N"), "Seeds the random inputs. Default: a fresh one each run.");
    add("json", "Prints JSON instead of the page, every curve included.");
    add("columns", text("LIST"), about_columns_of(report::columns_of_command("profile")).c_str());
}

void add_ncu(Options& add) {
    add("kernel,k", list("PATTERN"), "Selects variants, like a positional PATTERN. Repeats.");
    add("device,d", list("D"), "Selects NVIDIA devices as for `cllab run`. Repeats. Default: the first GPU.");
    add("axis,a", list("NAME=VALUES"),
        "Redefines an axis, as in `cllab run`. Without it each variant is counted at its first point.");
    add_statements(add);
    add("export", text("DIR"),
        "Counts nothing here: writes to DIR/<kernel> the PTX, the arguments, and a C++ program of one file that "
        "launches it, for a machine "
        "that has the profiler.");
    add("cl-dir", text("DIR"), "Reads the kernel text from DIR/<family>.cl, as in `cllab run`.");
    add("build-options", text("TEXT"), "Appends TEXT to the build options of every kernel.");
    add("json", text("FILE"), "Writes one JSON line per cell with all counters.");
    add("timeout", number("SECONDS", 60),
        "Ends a launch that takes longer than SECONDS; the profiler may take four times that.");
    add("seed", text("N"), "Seeds the random inputs. Default: a fresh one each run.");
    add("force", replaces);
    add("append", "Adds to a file of --json that exists.");
}

}  // namespace

po::options_description options_of(const std::string& command) {
    po::options_description out("Options", 110, 70);
    auto add = out.add_options();
    add("help,h", "Prints this page.");
    if (command != "tune" && command != "regress" && command != "merge" && command != "profile" && command != "ncu")
        add("no-pager",
            "Prints what is longer than the terminal's screen as it is, not through PAGER (default: less).");
    if (command == "run" || command == "dump" || command == "tune" || command == "why") add_cells(add, command);
    if (command == "run") add_run(add);
    if (command == "tune")
        add("max-time", number("SECONDS", 0.4),
            "Caps the sampling of one point; the comparison of the fastest with the default may take 25 times as "
            "long.");
    if (command == "why") {
        add("test",
            "Tests each limiter that is named: changes one axis, runs half of the work-items, adds multiply-adds that "
            "nothing needs, or on "
            "NVIDIA lets fewer groups be resident at a time, predicts what that does to the time, and measures it "
            "against the cell as it was "
            "over arrangements, as --vs of `cllab run` does. A claim that fails is withdrawn.");
        add("dumps", text("DIR", "dumps"), "Reads the profile from DIR/<device>/profile.json.");
        add("max-time", number("SECONDS", 0.4),
            "Caps the sampling of one cell, which ends earlier when the median is known within 1 %.");
    }
    if (command == "isa") add_isa(add);
    if (command == "regress") add_regress(add);
    if (command == "profile") add_profile(add);
    if (command == "ncu") add_ncu(add);
    if (command == "merge") {
        add("json", text("OUT", "-"), "Writes the records to OUT; - is standard output.");
        add("force", replaces);
        add("append", "Adds to a file of --json that exists.");
    }
    if (command == "report") {
        add("csv", text("OUT"), "Also writes one CSV line per record to OUT; - instead of the tables.");
        add("html", text("OUT"),
            "Also writes an HTML page to OUT: charts, tables, and the code beside the time, read from the dump folders "
            "that the "
            "records name, as seen from the current folder.");
        for (const auto& format : report::exports) add(format.option, text("OUT"), format.about);
        add("columns", text("LIST"), about_columns().c_str());
        add("force", replaces);
        add("append", "Adds to a file of --csv that exists, without a second header.");
    }
    if (command == "devices") {
        add("noise",
            "Instead compares equal code with itself for ten seconds, and prints the smallest difference that can be "
            "told here now, what "
            "disturbs, and what changes that.");
        add("device,d", list("D"), "With --noise, selects devices as for `cllab run`.");
    }
    if (command == "devices" || command == "list") add("json", "Prints JSON instead of text.");
    return out;
}

}  // namespace cllab::app
