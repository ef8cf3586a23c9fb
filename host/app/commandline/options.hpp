// Options that several commands have in common. A command's own struct combines these and is defined with the command.
// A member's initial value is the option's default, as --help shows it.
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

/// Common to all commands.
struct Call {
    std::string command;
    Strings argv;
    Strings patterns;   ///< the words besides the options: PATTERN, FILE, FAMILY
    Strings passed_on;  ///< after `--`, for commands that forward these words
    bool timings = false;
};

/// Which cells, built from which text, on which devices.
struct CellOptions : Call {
    Strings devices;
    Pairs axes, inputs;
    Pairs statements;    ///< about a kernel file: option and value, such as "arg", "n=1024"
    std::string versus;  ///< --vs: a pattern, or build options
    std::string replay;  ///< a folder of the OpenCL Intercept Layer
    std::string cl_dir, build_options, label;
    std::string reference_command;  ///< a shell command
    std::uint64_t seed = std::random_device{}();
    double timeout_seconds = 60;
};

/// How cells are measured, and which files are kept in addition to the records.
struct MeasureOptions : CellOptions {
    model::Points points = model::Points::all;
    std::string cache = "hot";          ///< hot, cold or rotate
    double sampling_seconds = 0.4;      ///< cap of one cell's sampling
    double comparison_seconds = 10;     ///< total time of the arrangements of one pair
    std::optional<double> hot_seconds;  ///< seconds of launches during which the running code is sampled
    std::optional<unsigned> count_above;
    std::string dumps;  ///< empty: "dumps", and the user's cache for profiles
    Pairs outputs;      ///< buffer and picture file
    bool no_dumps = false, verify_only = false, no_yardstick = false, steps = false, energy = false, native = false;
};

/// The files that a command writes.
struct FileOptions {
    std::string json, csv, html, markdown, svg, png, junit;
    std::string baseline;  ///< a folder
    std::string long_csv;  ///< a row per sample
    bool force = false, append = false;
};

struct RunOptions : MeasureOptions, FileOptions {
    std::optional<double> max_time;
    std::string check;
    Strings columns;
    bool print_block = false, write_block = false;
    bool by_time = false, isolate = false, watch = false, require_all = false, strict = false;
};

struct WhyOptions : MeasureOptions, FileOptions {
    double count_seconds = 5;               ///< CPU time to simulate a kernel of a file
    std::optional<double> profile_seconds;  ///< time to measure a missing profile; nullopt: do not measure
};

}  // namespace cllab::app
