#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "app/commandline/option_list.hpp"
#include "app/commandline/options.hpp"
#include "core/error.hpp"
#include "core/suggest.hpp"
#include "core/text.hpp"

namespace cllab::app {
namespace {

struct HelpPage {
    const char *command, *usage, *about, *example;
};

const std::vector<HelpPage> pages{
    {"run", "cllab [run] [PATTERN...] [options]",
     "Verifies each kernel variant against independent host code, times it, and writes its binary and\n"
     "disassembly beside the time. A PATTERN is a shell glob over <family>_<variant>, a family's name, or a kernel "
     "file\n"
     "of your own, as in my.cl or my.cl:kernel: `cllab help kernel-file` explains those.\n\n"
     "Several devices run one after the other (but see --parallel), each in a child process as with --isolate, "
     "because\n"
     "CPU devices and simulators share the host's cores. After their tables comes one that has a column per\n"
     "device, and a sentence where the ranking differs. A device whose driver crashes is lost alone; the exit status "
     "is then 3.",
     "cllab run 'pitch_*' --device cpu --axis width=4096,8192 --json results.jsonl"},
    {"devices", "cllab devices [--json | --noise]",
     "Lists every OpenCL device: how to select it, what it offers, whether its event timer can be trusted,\n"
     "the kind of program binary it returns, and the driver quirks that cllab works around.",
     "cllab devices"},
    {"list", "cllab list [PATTERN...] [--json]", "Lists families with their questions, and the variants of each.",
     "cllab list 'pitch_*'"},
    {"describe", "cllab describe FAMILY",
     "Prints a family's question, its axes with their defaults, its metrics and its variants.", "cllab describe pitch"},
    {"dump", "cllab dump PATTERN... [options]",
     "Builds each variant, verifies it once so that the driver makes the code it would run, and writes source,\n"
     "options, build log, binary, disassembly and statistics. Takes no time measurements.",
     "cllab dump pitch_short8 --device cpu"},
    {"isa", "cllab isa PATTERN|FILE... [--target T... | --device D] [--vs PATTERN] [options]",
     "Prints the machine code of each variant with its registers, instruction classes and the counts of one\n"
     "iteration of every loop. With --target the kernel is compiled for a device that need not be here, from\n"
     "the same text with the same options as `cllab run`; without it, it is built and verified on a device.\n"
     "A FILE is a kernel file, as in my.cl:kernel, or any program binary (PTX, cubin, code object, PoCL's, SPIR-V …),\n"
     "which is recognised by its bytes; program.ptx:kernel is one kernel of it.",
     "cllab isa pitch_short8 --target gfx900 --vs pitch_wide"},
    {"why", "cllab why PATTERN|FILE... [--device D] [--test] [options]",
     "Names what limits the time of each cell, or says how much of it is not explained. Each bound is a time that the "
     "cell\n"
     "cannot beat: what it is declared to execute, over the peak that `cllab profile` measured on the device. The "
     "largest\n"
     "bound is the limiter when it is at least 80 % of the time and clear of the next, and the time is known within 10 "
     "%.\n"
     "What is not counted, or has no measured peak, has no bound and is listed. The launch adds to what runs in it, so "
     "these\n"
     "two may be named together.\n"
     "A peak that a cell beats, or that explains only 40 to 80 % of its time, is measured again beside it where that "
     "takes\n"
     "a second or two: the machine may have been busy when the profile was made, or be busy now. Both figures are "
     "printed.\n"
     "A FILE is a kernel file, as in my.cl:kernel, whose `work` says what it does; or a file of records, FILE.jsonl, "
     "which are\n"
     "explained as they are: what `cllab ncu` counted of a cell then takes the place of what it declares.",
     "cllab why saxpy_w128 --device cpu --test"},
    {"tune", "cllab tune PATTERN... [options]",
     "For each variant, tries the launch parameters that do not affect the result, such as the work-group's shape:\n"
     "all combinations if at most 300 differ on the device; otherwise 48 drawn at random, then one axis at a time\n"
     "from the fastest of them. Each point is verified; the best few and the default are measured again side by\n"
     "side before a winner is named with the command that reproduces it. --axis lists the candidates of a tunable\n"
     "axis and fixes any other axis.",
     "cllab tune himeno_wide --device gpu --axis size=M --axis local=32x4,64x4,128x2"},
    {"regress", "cllab regress BASE [PATTERN...] [options]",
     "Compares today's kernels with a baseline that `cllab run ... --baseline BASE` left. The baseline's own text is "
     "built\n"
     "again today and takes turns with today's text on the same memory, over arrangements as by `cllab run --vs`, so\n"
     "that a new driver, clock or neighbor affects both sides alike. A cell whose machine code is the same cannot "
     "fail\n"
     "and is not timed. PATTERN selects among the cells; of a kernel file, k.cl or k.cl:kernel.\n\n"
     "Each cell is looked at after --max-time or sooner. One that is undecided then gets more arrangements and is "
     "looked\n"
     "at again, twice at most, in the time that the others left: those that are decided, and those of the same code. "
     "No\n"
     "cell takes more than 12 times --max-time, and all of them take about --max-time each at most.\n\n"
     "All cells together give a false alarm in at most 1 % of the runs (Holm's correction; the first look spends half "
     "of\n"
     "that, the others a quarter each); their intervals hold together.\n\n"
     "Exit status, the first that holds: 1 a cell is wrong or fails, in whichever process; 4 a cell is slower, or "
     "leaves "
     "other\n"
     "results than the baseline's text (--results-may-change allows it); 5 a cell of the baseline vanished or cannot "
     "be\n"
     "compared, or with --strict is undecided; 0 otherwise. 2 also for a damaged baseline, 3 as for every command.",
     "cllab regress base --junit regress.xml"},
    {"profile", "cllab profile [--device D] [--budget S] [--json]",
     "Runs the probes within a budget and prints the device's portrait on one page: units, clock, latencies, rates,\n"
     "registers, caches, local memory, launching; each with its interval, what the driver says, and how it was\n"
     "found. The same goes to DIR/<device>/profile.json, where `cllab run` and `cllab tune` find the last level and\n"
     "the peaks that no kernel can beat.",
     "cllab profile --device gpu --budget 300"},
    {"ncu", "cllab ncu PATTERN|FILE.cl... [options] [-- options of ncu]",
     "Reads the hardware counters of a kernel on an NVIDIA device. NVIDIA's profilers see no OpenCL, so the PTX of "
     "the\n"
     "program binary is launched again through the CUDA driver with the cell's own arguments, under Nsight Compute "
     "(ncu).\n"
     "The result of that launch is checked like the cell, and its time stands beside OpenCL's. Kernels that take "
     "images\n"
     "or __local arguments, and operations of several launches, cannot be launched so. Options behind -- replace\n"
     "the choice of counters; ncu's own page is then printed as it is. With --json the record has the counters, and\n"
     "`cllab why` of that file explains the time by them.",
     "cllab ncu pitch_wide -- --set full"},
    {"merge", "cllab merge FILE... [--json OUT]",
     "Joins the records (`cllab run --json`) of many runs and machines into one JSON-lines file. A record that occurs\n"
     "twice is taken once. Damaged lines, records of another schema, and records that cannot be (a time beside\n"
     "wrong_result, an interval that excludes its median) are named on stderr and left out. The exit status is 0 with\n"
     "at least one record, 2 when no file can be read or there is no record. At most 1000000 records are read at once.",
     "cllab merge node*.jsonl --json all.jsonl"},
    {"report", "cllab report FILE... [--html OUT] [--csv OUT] [--long OUT] [--t4 OUT] [--google-benchmark OUT]",
     "Prints from the records (`cllab run --json`) of many runs and machines what `cllab run` prints: a table for "
     "each\n"
     "device, curves, and the variants by devices. It reads like `cllab merge`, with the same exit status; that cells\n"
     "have failed does not change it. Only a run prints what probes conclude from their curves, because that needs the "
     "device.",
     "cllab report all.jsonl --html page.html"},
};

}  // namespace

std::vector<std::string> commands() {
    std::vector<std::string> out;
    for (const auto& page : pages) out.emplace_back(page.command);
    return out;
}

std::string help_text(const std::string& command) {
    std::ostringstream out;
    if (command.empty()) {
        out << "cllab: an OpenCL kernel lab. It runs kernel variants on any OpenCL device, proves each right, times "
               "it,\n"
               "and keeps the program binary with its disassembly beside the time.\n\n"
               "  cllab --device cpu --kernel pitch_short8    verify, time and dump one variant (same as `cllab run "
               "...`)\n"
               "  cllab devices                               what is here, and whether its timer can be trusted\n"
               "  cllab list [PATTERN]                        families, variants, questions\n"
               "  cllab describe FAMILY                       question, axes with defaults, metrics, variants\n"
               "  cllab run PATTERN...                        verify, time, dump\n"
               "  cllab run FILE.cl[:KERNEL]...               the same for a kernel of your own: `cllab help "
               "kernel-file`\n"
               "  cllab dump PATTERN...                       build, verify once, dump; no timing\n"
               "  cllab isa PATTERN... [--target T]           machine code and its counts, also for devices that are "
               "not here\n"
               "  cllab why PATTERN...                        what limits the time, by the device's own measured "
               "peaks\n"
               "  cllab tune PATTERN...                       try the launch parameters, name the fastest\n"
               "  cllab regress BASE [PATTERN...]             slower than a baseline? an exit status says so\n"
               "  cllab profile [--device D]                  the device's portrait from all probes, on one page\n"
               "  cllab ncu PATTERN...                        hardware counters on NVIDIA, whose profilers see no "
               "OpenCL\n"
               "  cllab merge FILE...                         the records of many runs and machines as one file\n"
               "  cllab report FILE...                        the tables of such records, and the variants by "
               "devices\n\n"
               "`cllab COMMAND --help` explains a command. `cllab --version` prints the version.\n\n"
               "Exit status: 0 every cell ok or unsupported; 1 some cell failed, was wrong or timed out; 2 the command "
               "line\n"
               "or an input is wrong, or nothing matched; 3 no platform, no such device, a device was lost, or a file\n"
               "cannot be written; 4 (regress) something is slower or leaves other results; 5 (regress) something "
               "cannot be\n"
               "compared; 130 interrupted (SIGINT, SIGTERM).\n";
        return out.str();
    }
    if (command == "kernel-file") return kernel_file_help();
    const auto page = std::find_if(pages.begin(), pages.end(), [&](const HelpPage& p) { return p.command == command; });
    if (page == pages.end())
        throw Error(Blame::usage, "there is no command '" + command + "'; the commands are " + join(commands(), ", ") +
                                      or_did_you_mean(command, commands()));
    out << "Usage: " << page->usage << "\n\n"
        << page->about << "\n\nExample: " << page->example << "\n\n"
        << options_of(command);
    return out.str();
}

}  // namespace cllab::app
