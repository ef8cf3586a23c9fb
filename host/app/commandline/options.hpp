// The command line of every command, parsed and explained. --help is the manual.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/plan.hpp"

namespace cllab::app {

struct Invocation {
    std::string command = "run";  ///< one of `commands()`, or version, or complete
    bool help = false, no_pager = false;
    std::vector<std::string> argv;

    std::vector<std::string> patterns, devices;  ///< patterns: the files of merge and report
    std::vector<std::pair<std::string, std::string>> axes, inputs, outputs;
    std::vector<std::pair<std::string, std::string>>
        statements;  ///< about a kernel file: option and value, "arg", "n=1024"
    std::vector<std::pair<std::string, std::string>>
        exports;  ///< of report: option without dashes (report/records/exports.hpp) and file
    std::string json, csv, html, dumps = "dumps", cl_dir, build_options, label;
    std::string baseline;  ///< of run: where records and texts are kept for regress
    std::string junit;
    std::string cache = "hot";                  ///< of run: hot, cold or rotate
    std::string parallel = "never";             ///< of run: never, gpus or all
    std::size_t processes = 0;                  ///< of run and dump: that share what is not measured; 0: as many as pay
    model::Points points = model::Points::all;  ///< of run and dump
    bool no_dumps = false, isolate = false, require_all = false, verify_only = false, no_yardstick = false,
         as_json = false, timings = false;
    bool force = false, append = false;  ///< what becomes of an output file that exists
    double timeout_seconds = 60, sampling_seconds = 0.4;
    double comparison_seconds = 10;     ///< of the arrangements of one pair: --vs, tune's winner
    std::optional<double> hot_seconds;  ///< of run: for sampling which code runs; nothing: the default
    double threshold = 0.02;            ///< of regress: a slower cell is slower by more than this
    bool recorded = false, strict = false, calibrate = false, history = false;  ///< of regress
    bool results_may_change = false;                                            ///< likewise
    unsigned rebuild = 0;        ///< of run and isa: builds in fresh processes; 0: not asked for
    bool test = false;           ///< of why
    bool noise = false;          ///< of devices
    double budget_seconds = 60;  ///< of profile
    std::uint64_t seed = 1;
    std::string versus;                                                                     ///< of run and isa
    std::vector<std::string> targets;                                                       ///< of isa
    bool list_targets = false, summary = false, hot = false, source = false, live = false;  ///< likewise
    unsigned width = 0;                  ///< likewise: columns; 0: as long as the lines are
    std::string check, replay;           ///< of run, for kernel files
    bool steps = false, native = false;  ///< of run
    std::vector<std::string>
        columns;  ///< of run, dump and report: of the table (report::column_name); empty: what there is room for
    std::optional<unsigned> count_above;    ///< of run and dump: grey level
    bool watch = false;                     ///< likewise
    std::string exports_to;                 ///< of ncu: the folder of --export
    std::vector<std::string> tool_options;  ///< of ncu: what stands behind --
};

std::vector<std::string> commands();

/// Throws Error(usage) for anything it does not understand.
Invocation parse(int argc, char** argv);

/// The text of `cllab COMMAND --help`; the overview for "", the grammar of kernel files for "kernel-file".
std::string help_text(const std::string& command);
std::string kernel_file_help();

}  // namespace cllab::app
