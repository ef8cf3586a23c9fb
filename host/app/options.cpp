#include "app/options.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <map>
#include <random>
#include <sstream>

#include "app/arguments.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "report/exports.hpp"

namespace cllab::app {
namespace {

namespace po = boost::program_options;

const std::vector<std::string> commands{"run", "devices", "list", "describe", "dump", "isa", "tune", "regress", "profile", "merge", "report"};

struct Page {
    const char* usage;
    const char* about;
    const char* example;
};

Page page_of(const std::string& command) {
    if (command == "run")
        return {"cllab [run] [PATTERN...] [options]",
                "Verifies each kernel variant against independent host code, times it, and writes its binary and\n"
                "disassembly beside the time. A PATTERN is a shell glob over <family>_<variant>, a family's name, or a kernel file\n"
                "of your own, as in my.cl or my.cl:kernel: `cllab help kernel-file` explains those.\n\n"
                "Several devices run one after the other, each in a child process as with --isolate, because CPU devices and\n"
                "simulators share the host's cores. After the table of each device comes one of the variants by devices, and\n"
                "a sentence where the ranking differs. A device whose driver crashes is lost alone; the exit status is then 3.",
                "cllab run 'pitch_*' --device cpu --axis width=4096,8192 --json results.jsonl"};
    if (command == "devices")
        return {"cllab devices [--json | --noise]",
                "Lists every OpenCL device: how to select it, what it offers, whether its event timer can be trusted,\n"
                "the kind of program binary it returns, and the driver quirks that cllab works around.",
                "cllab devices"};
    if (command == "list")
        return {"cllab list [PATTERN...] [--json]", "Lists families with their questions, and the variants of each.",
                "cllab list 'pitch_*'"};
    if (command == "describe")
        return {"cllab describe FAMILY", "Prints a family's question, its axes with their defaults, its metrics and its variants.",
                "cllab describe pitch"};
    if (command == "profile")
        return {"cllab profile [--device D] [--budget S] [--json]",
                "Runs the probes within a budget and prints the device's portrait on one page: units, clock, latencies, rates,\n"
                "registers, caches, local memory, launching; each with its interval, what the driver says, and how it was\n"
                "found. The same goes to DIR/<device>/profile.json, where `cllab run` and `cllab tune` find the last level and\n"
                "the peaks that no kernel can beat.",
                "cllab profile --device gpu --budget 300"};
    if (command == "merge")
        return {"cllab merge FILE... [--json OUT]",
                "Joins the records (`cllab run --json`) of many runs and machines into one JSON-lines file. A record that is there\n"
                "twice is taken once. Damaged lines, records of another schema, and records that cannot be (a time beside\n"
                "wrong_result, an interval that excludes its median) are named on stderr and left out. The exit status is 0 with\n"
                "at least one record, 2 when no file can be read or there is no record. At most 1000000 records are read at once.",
                "cllab merge node*.jsonl --json all.jsonl"};
    if (command == "report")
        return {"cllab report FILE... [--html OUT] [--csv OUT] [--long OUT] [--t4 OUT] [--google-benchmark OUT]",
                "Prints from the records (`cllab run --json`) of many runs and machines what `cllab run` prints: a table for each\n"
                "device, curves, and the variants by devices. It reads like `cllab merge`, with the same exit status; that cells\n"
                "have failed does not change it. What a probe concludes from its curves needs the device: only a run says it.",
                "cllab report all.jsonl --html page.html"};
    if (command == "regress")
        return {"cllab regress BASE [PATTERN...] [options]",
                "Compares today's kernels with a baseline that `cllab run ... --baseline BASE` left. The baseline's own text is built\n"
                "again today and takes turns with today's text on the same memory, over arrangements as by `cllab run --vs`, so\n"
                "that a new driver, clock or neighbor reaches both sides alike. A cell whose machine code is the same cannot fail\n"
                "and is not timed. PATTERN selects among the cells.\n\n"
                "All cells together give a false alarm in at most 1 % of the runs (Holm's correction); their intervals hold\n"
                "together. Exit status: 0 nothing is slower; 4 something is; 5 with --strict, something is undecided; 1 a cell is\n"
                "wrong or fails, which goes before 4; 2 and 3 as for every command.",
                "cllab regress base --junit regress.xml"};
    if (command == "tune")
        return {"cllab tune PATTERN... [options]",
                "For each variant tries the launch parameters that do not affect the result, such as the work-group's shape:\n"
                "all combinations up to 300 that differ on the device; above that 48 drawn at random, and from the fastest of\n"
                "them one axis after the other. Each point is verified; the best few and the default are measured again side by\n"
                "side before a winner is named with the command that reproduces it. --axis lists the candidates of a tunable\n"
                "axis and fixes any other axis.",
                "cllab tune himeno_wide --device gpu --axis size=M --axis local=32x4,64x4,128x2"};
    if (command == "isa")
        return {"cllab isa PATTERN|FILE... [--target T... | --device D] [--vs PATTERN] [options]",
                "Prints the machine code of each variant with its registers, instruction classes and the counts of one\n"
                "iteration of every loop. With --target the kernel is compiled for a device that need not be here, from\n"
                "the same text with the same options as `cllab run`; without it, it is built and verified on a device.\n"
                "A FILE is a kernel file, as in my.cl:kernel, or any program binary (PTX, cubin, code object, PoCL's, SPIR-V …),\n"
                "which is recognised by its bytes; program.ptx:kernel is one kernel of it.",
                "cllab isa pitch_short8 --target gfx900 --vs pitch_wide"};
    return {"cllab dump PATTERN... [options]",
            "Builds each variant, verifies it once so that the driver makes the code it would run, and writes source,\n"
            "options, build log, binary, disassembly and statistics. Takes no time measurements.",
            "cllab dump pitch_short8 --device cpu"};
}

using Strings = std::vector<std::string>;

/// Lines of a kernel file's block that may stand on the command line.
struct Statement {
    const char *option, *value, *about;
};
const Statement statements[] = {
    {"arg", "NAME=VALUE", "Of a kernel file: gives an argument, e.g. src=rand:n*n. Repeats. See `cllab help kernel-file`."},
    {"global", "X[,Y[,Z]]", "Of a kernel file: work-items, as expressions over axes and scalar arguments."},
    {"local", "X[,Y[,Z]]", "Of a kernel file: work-items per group. Default: the driver's choice."},
    {"offset", "X[,Y[,Z]]", "Of a kernel file: offset of the global ids."},
    {"variant", "NAME=OPTIONS", "Of a kernel file: makes one more variant by build options, e.g. fast=-DTILE=32. Repeats."},
    {"extends", "FOLDER", "Of a kernel file: looks for #include files in FOLDER too. Repeats. Same as -I."},
    {"work", "bytes=N flops=N", "Of a kernel file: what a launch must move and compute, for the rates."},
    {"expect", "NAME=FILE", "Of a kernel file: an argument must come out equal to FILE (.npy, raw, picture). Repeats."},
    {"reference", "KERNEL", "Of a kernel file: results must equal those of this kernel or variant."},
    {"tolerance", "KIND=X", "Of a kernel file: how far results may differ: absolute=X, relative=X or ulp=X."},
};

po::options_description options_of(const std::string& command) {
    po::options_description out("Options", 110, 70);
    auto add = out.add_options();
    add("help,h", "Prints this page.");
    if (command == "isa") {
        add("kernel,k", po::value<Strings>()->composing()->value_name("PATTERN"),
            "Selects variants, like a positional PATTERN. Repeats.");
        add("target,t", po::value<Strings>()->composing()->value_name("T"),
            "Compiles for processor T, e.g. gfx900, gfx1030, sm_80, sm_90, tgllp, pvc. Several targets make one table. Repeats.");
        add("targets", "Lists the processors, what this machine can make for each, and what would enable the rest.");
        add("device,d", po::value<Strings>()->composing()->value_name("D"),
            "Builds and runs once on a device, selected as in `cllab run`.");
        add("vs", po::value<std::string>()->value_name("PATTERN"),
            "Compares with this variant: registers, counts, and of each the innermost loop with the most work side by side.");
        add("rebuild", po::value<unsigned>()->value_name("N"),
            "Compiles N times with --target, each in a fresh program with its own addresses, and prints how often each code came out.");
        add("summary", "Leaves the instructions themselves out.");
        add("axis,a", po::value<Strings>()->composing()->value_name("NAME=VALUES"),
            "Redefines an axis, as in `cllab run`. Without it each variant is shown at its first point.");
        add("dumps", po::value<std::string>()->value_name("DIR"), "Also writes source, binary, code and statistics below DIR.");
        add("cl-dir", po::value<std::string>()->value_name("DIR"), "Reads the kernel text from DIR/<family>.cl, as in `cllab run`.");
        add("build-options", po::value<std::string>()->value_name("TEXT"), "Appends TEXT to the build options of every kernel.");
        add("require-all", "Counts variants that the target cannot have as failed.");
    }
    if (command == "run" || command == "dump" || command == "tune") {
        add("kernel,k", po::value<Strings>()->composing()->value_name("PATTERN"),
            "Selects variants, like a positional PATTERN. Repeats.");
        add("device,d", po::value<Strings>()->composing()->value_name("D"),
            "Selects devices: cpu, gpu, accelerator (the first of that type whose timer can be trusted), all, P or P:D "
            "(clinfo's indices), or part of a name. Repeats. Default: the first GPU, else the first CPU.");
        add("axis,a", po::value<Strings>()->composing()->value_name("NAME=VALUES"),
            "Redefines an axis: a list (width=1024,2048), a geometric range (size=1Ki:1Mi:*2) or a stepped one "
            "(items=1:9:+2). Repeats. See `cllab describe FAMILY`.");
    }
    if (command == "run" || command == "dump" || command == "tune" || command == "isa") {
        for (const auto& statement : statements)
            add(std::string(statement.option) == "extends" ? "extends,I" : statement.option, po::value<Strings>()->composing()->value_name(statement.value),
                statement.about);
    }
    if (command == "run" || command == "dump") {
        add("input", po::value<Strings>()->composing()->value_name("NAME=FILE"),
            "Uses an image file (PNG, JPEG, PGM; grey or colour) as the buffer NAME, e.g. src=panel.png.");
        add("output", po::value<Strings>()->composing()->value_name("NAME=FILE"),
            "Writes the buffer NAME as a picture (.png or .pgm), e.g. dst=map.png. Needs a run of one cell.");
        add("dumps", po::value<std::string>()->value_name("DIR")->default_value("dumps"),
            "Writes source, binary, disassembly and records below DIR.");
        add("no-dumps", "Writes no dumps.");
    }
    if (command == "run" || command == "dump" || command == "tune") {
        add("cl-dir", po::value<std::string>()->value_name("DIR"),
            "Reads the kernel text from DIR/<family>.cl instead of the text embedded in the program: edit and run, "
            "no rebuild. Runs it in a child process, as --isolate does.");
        add("build-options", po::value<std::string>()->value_name("TEXT"),
            "Appends TEXT to the build options of every kernel, e.g. -cl-opt-disable.");
        add("json", po::value<std::string>()->value_name("FILE"),
            "Writes one JSON record a cell, each flushed as soon as its cell is done.");
        add("csv", po::value<std::string>()->value_name("FILE"), "Writes one CSV line a cell, likewise.");
    }
    if (command == "run")
        add("html", po::value<std::string>()->value_name("FILE"), "Writes one page for a browser at the end: charts, tables, and the code beside the time.");
    if (command == "run" || command == "dump") {
        add("isolate", "Runs each device's work in a child process: a driver that crashes or hangs costs one cell.");
        add("timings", "Prints on standard error where the time of the command went, by phase and by cell.");
    }
    if (command == "run" || command == "dump" || command == "tune") {
        add("timeout", po::value<double>()->value_name("SECONDS")->default_value(60, "60"),
            "Ends a cell that shows no progress for SECONDS as timed_out. With --isolate the run goes on; without it the "
            "program stops there, with everything finished on disk.");
        add("seed", po::value<std::string>()->value_name("N"),
            "Seeds the random inputs. Default: a fresh one each run, kept in the record's argv when given.");
    }
    if (command == "run" || command == "dump" || command == "tune") {
        add("label", po::value<std::string>()->value_name("TEXT"),
            "Writes TEXT into every record, to tell runs apart later, e.g. 'before the change'. At most 200 bytes.");
    }
    if (command == "run" || command == "dump") add("require-all", "Counts unsupported cells as failed.");
    if (command == "run" || command == "tune") {
        add("max-time", po::value<double>()->value_name("SECONDS")->default_value(0.4, "0.4"),
            command == "tune" ? "Caps the sampling of one point; the comparison of the fastest with the default may take 25 times as long."
                              : "Caps the sampling of one cell; it ends earlier when the median is known within 1 %. With --vs, caps all "
                                "arrangements of one pair instead (default 10; up to four times that where fewer than an interval needs "
                                "would be done); they end earlier when the ratio is known within 0.5 %.");
    }
    if (command == "run") {
        add("baseline", po::value<std::string>()->value_name("DIR"),
            "Keeps each record, and each kernel text once by its hash, below DIR, for `cllab regress DIR`. A baseline that exists "
            "is kept; --force replaces it, --append adds this run.");
        add("cache", po::value<std::string>()->value_name("STATE")->default_value("hot"),
            "What the caches hold before each operation: hot, what the operation before left there; cold, nothing of it, "
            "because other memory of 4 times the last level was read; rotate, likewise nothing, because as much in sets of "
            "the kernel's own buffers is used in turn. Goes by the profile's last level where `cllab profile` left one "
            "below --dumps.");
        add("verify", "Verifies and dumps only; takes no time measurements.");
        add("check", po::value<std::string>()->value_name("TOOL"),
            "Of a kernel file: TOOL is oclgrind. Runs each kernel once, small, in Oclgrind and reports races, uninitialised reads and "
            "accesses outside of buffers, with their lines.");
        add("watch", "Of a kernel file: on each save builds and verifies it, compares it with the version before as --vs does, and shows "
            "how the code differs. Goes on until interrupted.");
        add("replay", po::value<std::string>()->value_name("DIR"),
            "Runs the kernel that the OpenCL Intercept Layer captured in DIR (CLI_CaptureReplay=1), with its arguments, and holds the "
            "results against those captured.");
        add("vs", po::value<std::string>()->value_name("PATTERN"),
            "Compares one variant with this one over arrangements: each a fresh process with its own order, placement of buffers "
            "and inputs, in which both take turns on the same memory. Prints a verdict with its interval, beside a control of the "
            "first variant against itself; then registers, counts, and the innermost loop with the most work of each side by side.");
        add("rebuild", po::value<unsigned>()->value_name("N"),
            "Builds each cell N times, each in a fresh program with its own addresses and an empty compile cache, runs each build in two "
            "processes, and prints how often each machine code came out, its time, and how much of the spread is between codes, between "
            "arrangements of one code, and within one.");
        add("no-yardstick", "Leaves out the yardstick: a copy of as many bytes as the cell's data, in the same state of the caches and in turns "
            "with it, which gives the column 'of copy'.");
    }
    if (command == "regress") {
        add("device,d", po::value<Strings>()->composing()->value_name("D"),
            "Runs both sides on this device, which must be of the baseline's platform and type. Default: the baseline's own.");
        add("threshold", po::value<double>()->value_name("PERCENT")->default_value(2, "2"),
            "Calls a cell slower when it takes longer by more than PERCENT, beyond the interval.");
        add("strict", "Ends with status 5 when a cell is undecided and none is slower.");
        add("recorded", "Compares with the stored times instead of the stored text, for two machines or two drivers. The weaker claim: what "
                        "changed between the runs beside the kernel is in it. It takes several runs in the baseline (--append).");
        add("calibrate", "Compares the baseline with itself: prints how many false alarms there were, and the smallest slowdown that would "
                         "have been found.");
        add("history", "Takes BASE and PATTERN as files of records instead and prints where the level of a cell's time changed from run to run.");
        add("max-time", po::value<double>()->value_name("SECONDS")->default_value(10, "10"),
            "Caps the arrangements of one cell; up to four times that where fewer than an interval needs would be done.");
        add("cl-dir", po::value<std::string>()->value_name("DIR"),
            "Reads today's text from DIR/<family>.cl. Default: where the baseline's command line reads it from.");
        add("build-options", po::value<std::string>()->value_name("TEXT"),
            "Appends TEXT to the build options of today's side. Default: as in the baseline's command line.");
        add("json", po::value<std::string>()->value_name("FILE"), "Writes one JSON line per cell and one for the whole.");
        add("junit", po::value<std::string>()->value_name("FILE"), "Writes JUnit XML: slower is a failure, wrong or failing an error.");
        add("timeout", po::value<double>()->value_name("SECONDS")->default_value(60, "60"), "Ends a cell that shows no progress for SECONDS.");
        add("seed", po::value<std::string>()->value_name("N"), "Seeds inputs, orders and placements. Default: a fresh one each run.");
        add("force", "Replaces an output file that exists. Without it such a file is kept and the command refused.");
        add("append", "Adds to a file of --json that exists.");
    }
    if (command == "profile") {
        add("device,d", po::value<Strings>()->composing()->value_name("D"),
            "Selects devices as for `cllab run`. Repeats. Default: the first GPU, else the first CPU.");
        add("budget", po::value<double>()->value_name("SECONDS")->default_value(60, "60"),
            "Shares SECONDS out among the probes of a device. The page names what does not fit, and why.");
        add("dumps", po::value<std::string>()->value_name("DIR")->default_value("dumps"), "Writes profile.json below DIR.");
        add("no-dumps", "Writes no file.");
        add("cl-dir", po::value<std::string>()->value_name("DIR"), "Reads the kernel text from DIR/<family>.cl.");
        add("build-options", po::value<std::string>()->value_name("TEXT"), "Appends TEXT to the build options of every kernel.");
        add("isolate", "Runs each probe in a child process: a driver that crashes or hangs costs one cell.");
        add("timeout", po::value<double>()->value_name("SECONDS")->default_value(60, "60"),
            "With --isolate, ends a cell that shows no progress for SECONDS.");
        add("seed", po::value<std::string>()->value_name("N"), "Seeds the random inputs. Default: a fresh one each run.");
        add("json", "Prints JSON instead of the page, every curve included.");
    }
    if (command == "merge")
        add("json", po::value<std::string>()->value_name("OUT")->default_value("-"), "Writes the records to OUT; - is standard output.");
    if (command == "report")
    {
        add("csv", po::value<std::string>()->value_name("OUT"), "Also writes one CSV line a record to OUT; - instead of the tables.");
        add("html", po::value<std::string>()->value_name("OUT"),
            "Also writes one page for a browser to OUT: charts, tables, and the code beside the time, read from the dump folders that the "
            "records name, as seen from the current folder.");
        for (const auto& format : report::exports) add(format.option, po::value<std::string>()->value_name("OUT"), format.about);
    }
    if (command == "devices") {
        add("noise", "Compares equal code with itself for ten seconds instead, prints how small a difference can be told now, what disturbs, "
                     "and what changes that.");
        add("device,d", po::value<Strings>()->composing()->value_name("D"), "With --noise, selects devices as for `cllab run`.");
    }
    if (command == "devices" || command == "list") add("json", "Prints JSON instead of text.");
    if (command == "run" || command == "dump" || command == "tune" || command == "merge" || command == "report") {
        const bool pictures = command == "run" || command == "dump";
        add("force", pictures ? "Replaces a file of --json, --csv, --html or --output that exists. Without it such a file is kept and the run refused."
                              : "Replaces an output file that exists. Without it such a file is kept and the command refused.");
        add("append", command == "merge"    ? "Adds to a file of --json that exists."
                      : command == "report" ? "Adds to a file of --csv that exists, without a second header."
                                            : "Adds to a file of --json or --csv that exists; CSV gets no second header.");
    }
    return out;
}

std::pair<std::string, std::string> key_value(const std::string& option, const std::string& text) {
    const auto at = text.find('=');
    if (at == 0 || at == std::string::npos || at + 1 == text.size())
        throw Error(Blame::usage, "option '--" + option + "' takes NAME=VALUE; found '" + text + "'");
    return {text.substr(0, at), text.substr(at + 1)};
}

/// NAME=VALUE of an option that repeats, each NAME once.
std::vector<std::pair<std::string, std::string>> named(const std::string& option, const Strings& texts) {
    std::vector<std::pair<std::string, std::string>> out;
    std::map<std::string, std::string> given;
    for (const auto& text : texts) {
        out.push_back(key_value(option, text));
        const auto& [name, value] = out.back();
        const auto [first, is_new] = given.emplace(name, value);
        if (!is_new)
            throw Error(Blame::usage, "option '--" + option + "' gives '" + name + "' twice, '" + first->second + "' and '" + value + "'");
    }
    return out;
}

/// Boost's sentences, without its capital letters and with the nearest option.
std::string explain(const std::string& command, const po::error& e) {
    std::string out = e.what();
    if (const auto* unknown = dynamic_cast<const po::unknown_option*>(&e)) {
        std::vector<std::string> known;
        const auto described = options_of(command);  // named: the range-for would outlive a temporary's options
        for (const auto& option : described.options()) known.push_back("--" + option->long_name());
        const auto near = nearest(unknown->get_option_name(), known);
        out = "option '" + unknown->get_option_name() + "' is unknown to `cllab " + command + "`" +
              (near.empty() ? "" : "; did you mean " + join(near, ", ") + "?");
    }
    return out + (out.back() == '?' ? " " : ". ") + "See `cllab " + command + " --help`.";
}

void positive(const char* option, double value) {
    if (!(value > 0) || value > 1e6)
        throw Error(Blame::usage, std::string("option '--") + option + "' is " + format_exact(value) +
                                      "; possible are seconds above 0, at most 1000000");
}

}  // namespace

Invocation parse(int argc, char** argv) {
    Invocation out;
    out.argv.assign(argv, argv + argc);
    Strings args(argv + 1, argv + argc);
    refuse_empty(args);
    if (args.empty() || args.front() == "--help" || args.front() == "-h" || args.front() == "help") {
        out.help = true;
        out.command.clear();
        if (args.size() > 1 && args.front() == "help") out.command = args[1];
        return out;
    }
    if (args.front() == "--version") {
        if (args.size() > 1) throw Error(Blame::usage, "`cllab --version` takes no argument; found '" + args[1] + "'");
        out.command = "version";
        return out;
    }
    if (std::find(commands.begin(), commands.end(), args.front()) != commands.end()) {
        out.command = args.front();
        args.erase(args.begin());
    }
    const auto described = options_of(out.command);
    po::options_description hidden;
    hidden.add_options()("pattern", po::value<Strings>());
    po::options_description all;
    all.add(described).add(hidden);
    po::positional_options_description positional;
    positional.add("pattern", -1);
    po::variables_map values;
    refuse_missing_values(args, described);
    try {
        using namespace po::command_line_style;
        const int style = (default_style & ~allow_guessing);
        po::store(po::command_line_parser(args).options(all).positional(positional).style(style).run(), values);
        po::notify(values);
    } catch (const po::error& e) {
        throw Error(Blame::usage, explain(out.command, e));
    }
    const auto strings = [&](const char* name) { return values.count(name) ? values[name].as<Strings>() : Strings{}; };
    const auto text = [&](const char* name, std::string& to) {
        if (values.count(name)) to = values[name].as<std::string>();
    };
    out.help = values.count("help") != 0;
    out.patterns = strings("pattern");
    if (out.command == "devices" && !out.patterns.empty())
        throw Error(Blame::usage, "`cllab devices` takes no argument; found '" + out.patterns.front() + "'");
    if (out.command == "devices" || out.command == "list" || out.command == "describe") {
        out.as_json = values.count("json") != 0;
        if (out.command == "devices") {
            out.noise = values.count("noise") != 0;
            out.devices = strings("device");
            out.seed = std::random_device{}();
            if (out.noise && out.as_json) throw Error(Blame::usage, "`cllab devices` takes --noise or --json, not both");
            if (!out.noise && !out.devices.empty()) throw Error(Blame::usage, "`cllab devices` takes --device with --noise only; it lists all devices");
        }
        return out;
    }
    out.force = values.count("force") != 0;
    out.append = values.count("append") != 0;
    if (out.command == "merge" || out.command == "report") {
        text("json", out.json);
        text("csv", out.csv);
        text("html", out.html);
        for (const auto& format : report::exports)
            if (values.count(format.option)) out.exports.emplace_back(format.option, values[format.option].as<std::string>());
        if (!out.help && out.patterns.empty())
            throw Error(Blame::usage, "`cllab " + out.command + "` needs a FILE that `cllab run --json` wrote");
        return out;
    }
    for (const auto& pattern : strings("kernel")) out.patterns.push_back(pattern);
    if (values.count("rebuild")) {
        out.rebuild = values["rebuild"].as<unsigned>();
        if (out.rebuild < 2 || out.rebuild > 1000)
            throw Error(Blame::usage, "option '--rebuild' is " + std::to_string(out.rebuild) + "; possible are whole numbers from 2 to 1000");
    }
    for (const auto& statement : statements)
        for (const auto& value : strings(statement.option)) out.statements.emplace_back(statement.option, value);
    if (out.command == "isa") {
        out.axes = named("axis", strings("axis"));
        out.devices = strings("device");
        out.dumps.clear();
        text("dumps", out.dumps);
        text("cl-dir", out.cl_dir);
        text("build-options", out.build_options);
        out.more_targets = strings("target");
        if (!out.more_targets.empty()) {
            out.target = out.more_targets.front();
            out.more_targets.erase(out.more_targets.begin());
        }
        text("vs", out.versus);
        out.targets = values.count("targets") != 0;
        out.summary = values.count("summary") != 0;
        out.require_all = values.count("require-all") != 0;
        if (out.rebuild && (out.target.empty() || !out.versus.empty()))
            throw Error(Blame::usage, "`cllab isa` takes --rebuild with --target and without --vs; `cllab run --rebuild` builds on a device");
        if (!out.target.empty() && !out.devices.empty())
            throw Error(Blame::usage, "`cllab isa` takes --target or --device, not both");
        if (!out.help && !out.targets && out.patterns.empty())
            throw Error(Blame::usage, "`cllab isa` needs a PATTERN, e.g. 'pitch_*', or --targets; `cllab list` shows what there is");
        return out;
    }
    out.devices = strings("device");
    if (out.command == "regress") {
        text("cl-dir", out.cl_dir);
        text("build-options", out.build_options);
        text("json", out.json);
        text("junit", out.junit);
        out.recorded = values.count("recorded") != 0;
        out.strict = values.count("strict") != 0;
        out.calibrate = values.count("calibrate") != 0;
        out.history = values.count("history") != 0;
        out.threshold = values["threshold"].as<double>() / 100;
        if (!(out.threshold >= 0) || out.threshold > 1)
            throw Error(Blame::usage, "option '--threshold' is " + format_exact(100 * out.threshold) + "; possible are per cent from 0 to 100");
        out.comparison_seconds = values["max-time"].as<double>();
        positive("max-time", out.comparison_seconds);
        out.timeout_seconds = values["timeout"].as<double>();
        positive("timeout", out.timeout_seconds);
        out.seed = values.count("seed") ? seed_from(values["seed"].as<std::string>()) : std::random_device{}();
        if (out.recorded + out.calibrate + out.history > 1)
            throw Error(Blame::usage, "`cllab regress` takes one of --recorded, --calibrate and --history");
        if (!out.help && out.patterns.empty())
            throw Error(Blame::usage, out.history ? "`cllab regress --history` needs a FILE that `cllab run --json` wrote"
                                                  : "`cllab regress` needs the folder that `cllab run ... --baseline DIR` wrote");
        return out;
    }
    if (out.command == "profile" && !out.patterns.empty())
        throw Error(Blame::usage, "`cllab profile` takes no PATTERN; found '" + out.patterns.front() + "'");
    out.axes = named("axis", strings("axis"));
    out.inputs = named("input", strings("input"));
    out.outputs = named("output", strings("output"));
    text("dumps", out.dumps);
    text("cl-dir", out.cl_dir);
    text("build-options", out.build_options);
    text("label", out.label);
    constexpr std::size_t longest_label = 200;
    if (out.label.size() > longest_label)
        throw Error(Blame::usage, "option '--label' has " + std::to_string(out.label.size()) + " bytes; at most " +
                                      std::to_string(longest_label) + " are possible");
    if (out.command == "profile") {
        out.as_json = values.count("json") != 0;
        out.budget_seconds = values["budget"].as<double>();
        positive("budget", out.budget_seconds);
    } else {
        text("json", out.json);
    }
    text("csv", out.csv);
    text("html", out.html);
    out.no_dumps = values.count("no-dumps") != 0;
    out.isolate = values.count("isolate") != 0;
    out.timings = values.count("timings") != 0;
    out.require_all = values.count("require-all") != 0;
    out.verify_only = out.command == "dump" || values.count("verify") != 0;
    text("vs", out.versus);
    text("baseline", out.baseline);
    if (out.rebuild && !(out.csv.empty() && out.baseline.empty() && out.outputs.empty()))
        throw Error(Blame::usage, "--rebuild writes the records of its processes to --json only, so --csv, --output and --baseline cannot stand beside it");
    text("check", out.check);
    text("replay", out.replay);
    out.watch = values.count("watch") != 0;
    if (!out.check.empty() && out.check != "oclgrind") throw Error(Blame::usage, "option '--check' is '" + out.check + "'; possible is oclgrind");
    if (!out.replay.empty() && !out.patterns.empty())
        throw Error(Blame::usage, "option '--replay' says what to run; found '" + out.patterns.front() + "' beside it");
    if (!out.replay.empty()) out.patterns = {out.replay};
    text("cache", out.cache);
    out.no_yardstick = values.count("no-yardstick") != 0;
    out.timeout_seconds = values["timeout"].as<double>();
    positive("timeout", out.timeout_seconds);
    if (values.count("max-time") && !values["max-time"].defaulted()) {
        const double seconds = values["max-time"].as<double>();
        positive("max-time", seconds);
        if (out.versus.empty()) out.sampling_seconds = seconds;
        out.comparison_seconds = out.versus.empty() ? std::min(out.comparison_seconds, 25 * seconds) : seconds;
    }
    out.seed = values.count("seed") ? seed_from(values["seed"].as<std::string>()) : std::random_device{}();
    if (!out.help && out.patterns.empty() && out.command != "profile")
        throw Error(Blame::usage, "`cllab " + out.command + "` needs a PATTERN, e.g. 'pitch_*'; `cllab list` shows what there is");
    return out;
}

std::string help_text(const std::string& command) {
    std::ostringstream out;
    if (command.empty()) {
        out << "cllab: an OpenCL kernel lab. It runs kernel variants on any OpenCL device, proves each right, times it,\n"
               "and keeps the program binary with its disassembly beside the time.\n\n"
               "  cllab --device cpu --kernel pitch_short8    verify, time and dump one variant (same as `cllab run ...`)\n"
               "  cllab devices                               what is here, and whether its timer can be trusted\n"
               "  cllab list [PATTERN]                        families, variants, questions\n"
               "  cllab describe FAMILY                       question, axes with defaults, metrics, variants\n"
               "  cllab run PATTERN...                        verify, time, dump\n"
               "  cllab run FILE.cl[:KERNEL]...               the same for a kernel of your own: `cllab help kernel-file`\n"
               "  cllab dump PATTERN...                       build, verify once, dump; no timing\n"
               "  cllab isa PATTERN... [--target T]           machine code and its counts, also for devices that are not here\n"
               "  cllab tune PATTERN...                       try the launch parameters, name the fastest\n"
               "  cllab regress BASE [PATTERN...]             slower than a baseline? an exit status says so\n"
               "  cllab profile [--device D]                  the device's portrait from all probes, on one page\n"
               "  cllab merge FILE...                         the records of many runs and machines as one file\n"
               "  cllab report FILE...                        the tables of such records, and the variants by devices\n\n"
               "`cllab COMMAND --help` explains a command. `cllab --version` prints the version.\n\n"
               "Exit status: 0 every cell ok or unsupported; 1 some cell failed, was wrong or timed out; 2 the command line\n"
               "or an input is wrong, or nothing matched; 3 no platform, no such device, a device was lost, or a file\n"
               "cannot be written; 4 (regress) something is slower; 5 (regress --strict) something is undecided; 130 interrupted (SIGINT, SIGTERM).\n";
        return out.str();
    }
    if (command == "kernel-file") return kernel_file_help();
    if (std::find(commands.begin(), commands.end(), command) == commands.end())
        throw Error(Blame::usage, "there is no command '" + command + "'; the commands are " + join(commands, ", "));
    const auto page = page_of(command);
    out << "Usage: " << page.usage << "\n\n" << page.about << "\n\nExample: " << page.example << "\n\n" << options_of(command);
    return out.str();
}

}  // namespace cllab::app
