// What each command was asked for: one struct a command, made of what several have in common. A member's initial value
// is the option's default, as --help shows it.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "model/plan.hpp"

namespace cllab::app {

using Strings = std::vector<std::string>;
using Pairs = std::vector<std::pair<std::string, std::string>>;

/// What every command has.
struct Call {
    std::string command;
    Strings argv;
    Strings patterns;   ///< what stands beside the options: PATTERN, FILE, FAMILY
    Strings passed_on;  ///< behind `--`, for the commands that pass it on
    bool no_pager = false;
};

/// Which cells, built from which text, on which devices.
struct CellOptions : Call {
    Strings devices;
    Pairs axes, inputs;
    Pairs statements;    ///< about a kernel file: option and value, "arg", "n=1024"
    std::string versus;  ///< --vs: a pattern, or build options
    std::string replay;  ///< a folder of the OpenCL Intercept Layer
    std::string cl_dir, build_options, label;
    std::uint64_t seed = std::random_device{}();
    double timeout_seconds = 60;
};

/// How cells are measured, and what is kept of that beside the records.
struct MeasureOptions : CellOptions {
    model::Points points = model::Points::all;
    std::string cache = "hot";          ///< hot, cold or rotate
    double sampling_seconds = 0.4;      ///< cap of one cell's sampling
    double comparison_seconds = 10;     ///< of the arrangements of one pair
    std::optional<double> hot_seconds;  ///< of the launches in which the running code is sampled
    std::optional<unsigned> count_above;
    std::string dumps = "dumps";
    Pairs outputs;  ///< buffer and picture file
    bool no_dumps = false, verify_only = false, no_yardstick = false, steps = false, native = false;
};

/// The files that a command writes.
struct FileOptions {
    std::string json, csv, html, junit;
    std::string baseline;  ///< a folder
    Pairs exports;         ///< option without dashes (report/records/exports.hpp) and file
    bool force = false, append = false;
};

struct RunOptions : MeasureOptions, FileOptions {
    std::optional<double> max_time;
    std::string parallel = "gpus";  ///< never, gpus or all
    unsigned processes = 0;         ///< that share what is not measured; 0: as many as pay
    unsigned rebuild = 0;           ///< builds in fresh processes; 0: not asked for
    std::string check;
    Strings columns;
    bool isolate = false, timings = false, watch = false, require_all = false;
};

struct TuneOptions : CellOptions, FileOptions {
    std::optional<double> max_time;
    double sampling_seconds = 0.4, comparison_seconds = 10;
    std::string dumps = "dumps";
};

struct WhyOptions : MeasureOptions, FileOptions {
    double count_seconds = 5;  ///< of the processor, in which a kernel of a file is simulated
    bool test = false;
};

struct IsaOptions : CellOptions {
    Strings targets, columns;
    std::string dumps;
    unsigned rebuild = 0;  ///< builds in fresh programs; 0: not asked for
    unsigned width = 0;    ///< columns; 0: as long as the lines are
    bool list_targets = false, summary = false, hot = false, source = false, live = false, require_all = false;
};

struct RegressOptions : Call, FileOptions {
    Strings devices, columns;
    std::string cl_dir, build_options, label;
    double threshold = 0.02;  ///< a slower cell is slower by more than this
    double comparison_seconds = 10, timeout_seconds = 60;
    std::uint64_t seed = std::random_device{}();
    bool recorded = false, strict = false, calibrate = false, history = false, results_may_change = false;
};

struct ProfileOptions : CellOptions {
    double budget_seconds = 60;
    std::string dumps = "dumps";
    Strings columns;
    bool no_dumps = false, isolate = false, timings = false, as_json = false;
};

struct NcuOptions : CellOptions, FileOptions {
    std::string exports_to;  ///< the folder of --export
};

struct CountOptions : CellOptions, FileOptions {
    double budget_seconds = 5;  ///< of the processor, per cell
    unsigned wave = 32;
};

struct MergeOptions : Call, FileOptions {
    Strings columns;  ///< of `report`
};

struct DevicesOptions : CellOptions {
    bool noise = false, as_json = false;
};

struct ListOptions : Call {
    bool as_json = false;
};

}  // namespace cllab::app
