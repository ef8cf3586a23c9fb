// `cllab capture`: a program's kernels by time, and a launch of each as a kernel file with data and expected results.
#include <cerrno>
#include <sstream>

#include "app/commands/command_file.hpp"
#include "app/processes/worker.hpp"
#include "capture/board.hpp"
#include "capture/observed.hpp"
#include "core/reading.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;
using capture::Json;
using capture::sum_of;

struct CaptureOptions : Call, FileOptions {
    Strings kernels;
    std::optional<unsigned> launch;
    std::string folder, timeline;
    bool no_times = false;
};

/// Why no process loaded the layer, and what to do.
std::string not_loaded(const capture::Observed& program) {
    if (program.loader.empty() && program.drivers.empty())
        return "the program called no OpenCL: no process of it was seen with an OpenCL library";
    if (program.loader.empty())
        return "an OpenCL loader linked into it statically loads no layers; the program's driver is " +
               program.drivers + "; link it with libOpenCL.so";
    return "the program's OpenCL loader " + program.loader +
           " did not load the layer: the program called no OpenCL, or the loader loads no layers; ocl-icd from 2.3.0 "
           "and Khronos' from 2020 on do, NVIDIA's does not; the system's: cllab capture -- env "
           "LD_PRELOAD=libOpenCL.so.1 PROGRAM";
}

std::string sizes_text(const Json& sizes) {
    return join(sizes, "x", [](const Json& size) { return size.dump(); });
}

void print_kernels(const std::vector<std::vector<Json>>& kernels, double all, unsigned width) {
    std::vector<report::Column> columns{{.title = "kernel", .names = report::Names::by_itself}};
    for (const auto* title : {"launches", "time", "mean", "share"}) columns.push_back({.title = title, .right = true});
    for (const auto* title : {"global", "local"}) columns.push_back({.title = title});
    for (const auto& rows : kernels) {
        const auto& most = rows.front();
        const auto count = sum_of(rows, "count"), seconds = sum_of(rows, "seconds");
        add_row(columns, {most["kernel"], format_general(count, 15), format_seconds(seconds),
                          format_seconds(seconds / count), fmt::format("{:.1f}%", 100 * seconds / all),
                          sizes_text(most["global"]) + (rows.size() > 1 ? concat(" +", rows.size() - 1) : ""),
                          most["local"].empty() ? "driver's" : sizes_text(most["local"])});
    }
    if (all == 0) columns.erase(columns.begin() + 2, columns.begin() + 5);
    std::ostringstream table;
    report::print_grid(table, columns, {.width = width});
    say_lines(table.str());
}

void print_capture(const std::vector<Json>& launches, const std::vector<Json>& others) {
    const auto width = page_width(100);
    const auto kernels = capture::by_kernel(launches);
    const auto all = sum_of(launches, "seconds");
    std::set<std::string> devices;
    for (const auto& row : launches) devices.insert(row["device"].get<std::string>());
    const auto other_commands = join(others, ", ", [](const Json& row) {
        return report::counted(row["count"], row["what"]) +
               (row["bytes"] > 0 ? " of " + format_bytes(row["bytes"]) : "") +
               (row["timed"] > 0 ? " in " + format_seconds(row["seconds"]) : "");
    });
    const auto line = [&](const std::string& text) { say_lines(report::wrap(text, "", width)); };
    const auto count = sum_of(launches, "count");
    line(format_general(count, 15) + (count == 1 ? " launch of " : " launches of ") +
         report::counted(kernels.size(), "kernel") +
         (devices.empty() ? "" : " on " + join({devices.begin(), devices.end()}, ", ")) +
         (all > 0 ? ": " + format_seconds(all) : ""));
    if (!kernels.empty()) print_kernels(kernels, all, width);
    if (!other_commands.empty()) line("beside them: " + other_commands);
}

void print_files(const std::vector<Json>& files, const CaptureOptions& asked) {
    for (const auto& file : files)
        say_lines(concat("  cllab run ", (fs::path(asked.folder) / file["file"]).string(), "  # launch ",
                         file["launch"].dump(), file["seconds"] > 0 ? ", " + format_seconds(file["seconds"]) : "",
                         file["changed"] ? "" : "; it changed none of its buffers",
                         file["has_text"] ? "" : "; a binary"));
    if (std::ranges::any_of(files, [](const Json& file) { return !file["has_text"]; }))
        say("a binary runs on this device and driver only; if it is from a cache of the program, turn that off");
    if (files.empty() && !asked.kernels.empty())
        say("no launch of a kernel " + join(asked.kernels, ", ") + " was kept; the table has the kernels' names");
}

int run_capture(const CaptureOptions& asked) {
    Outputs outputs(asked);
    if (!asked.timeline.empty()) outputs.writes(asked.timeline, "--trace", Outputs::Kind::whole);
    const inspect::TempFolder folder;
    outputs.open();
    if (!asked.folder.empty()) fs::create_directories(asked.folder);
    const auto path = folder.path() / "board", timeline = folder.path() / "timeline";
    auto* board = capture::map_board(path, true);
    if (!board) throw Error(Blame::environment, "file '", path.string(), "' cannot be written: ", std::strerror(errno));
    const capture::AskedFor settings{!asked.no_times, asked.kernels, asked.launch.value_or(0),
                                     (fs::current_path() / asked.folder).string(),
                                     asked.timeline.empty() ? "" : timeline.string()};
    board->say({{"asked", nlohmann::json(settings)}});
    auto layers = own_library("cllab-capture-layer.so").string();
    if (layers.empty())
        throw Error(Blame::environment, "cllab-capture-layer.so not found in cllab's folder or in ../lib/cllab");
    // The first layer is nearest the driver, so it sees calls as other layers have changed them.
    if (const char* more = std::getenv("OPENCL_LAYERS"); more && *more) layers += concat(":", more);
    ::setenv("OPENCL_LAYERS", layers.c_str(), 1);
    ::setenv("CLLAB_CAPTURE_BOARD", path.c_str(), 1);
    // Packages that would otherwise launch cached binaries, which have no text.
    for (const auto& [name, off] : {std::pair("PYOPENCL_NO_CACHE", "1"), std::pair("OPENCV_OPENCL_CACHE_ENABLE", "0")})
        if (!asked.kernels.empty()) ::setenv(name, off, 0);
    const auto program = capture::run_observed(asked.passed_on, results_fd(), *board);
    if (program.signal)
        say(concat("the program was ended by signal ", program.signal, "; the report covers what it did before"));
    const auto launches = capture::rows_on(*board, "kernel"), others = capture::rows_on(*board, "what");
    const auto files = said_on(*board, "file"), notes = said_on(*board, "note");
    if (auto* json = outputs.json()) {
        json->line(capture::text_of({{"command", asked.passed_on}, {"status", program.status}}));
        for (const auto& lines : {launches, others, files, notes, said_on(*board, "loader")})
            for (const auto& line : lines) json->line(capture::text_of(line));
    }
    if (auto* trace = outputs.file("--trace")) {
        const auto lines = split(trim(read_file(timeline).value_or("")), '\n');
        trace->whole("[" + join(lines, ",\n") + "]\n");
    }
    if (board->processes == 0) {
        say(not_loaded(program));
        return program.status ? program.status : 3;
    }
    print_capture(launches, others);
    print_files(files, asked);
    for (const auto& note : notes) say(note["note"].get<std::string>());
    return program.status;
}

Rows<CaptureOptions> capture_rows() {
    Rows<CaptureOptions> rows;
    rows.list("kernel,k", "PATTERN", &CaptureOptions::kernels)
        .whole("launch", "N", {1, 1e9, "whole numbers from 1"}, &CaptureOptions::launch)
        .text("output,o", "FOLDER", &CaptureOptions::folder)
        .text("trace", "FILE", &CaptureOptions::timeline)
        .flag("no-times", &CaptureOptions::no_times)
        .text("json", "FILE", &CaptureOptions::json)
        .with(replace_rows());
    return rows;
}

void check(CaptureOptions& asked) {
    refuse_patterns(asked, "`cllab capture` takes the program after --, as in `cllab capture -- python3 app.py`");
    if (asked.passed_on.empty())
        throw Error(Blame::usage, "`cllab capture` needs a program after --, as in `cllab capture -- python3 app.py`");
    if (asked.kernels.empty() != asked.folder.empty())
        throw Error(Blame::usage, "--kernel and --output need each other: cllab capture -k 'scan*' -o scan -- PROGRAM");
    if (!asked.folder.empty() && !asked.force && fs::exists(asked.folder) && !fs::is_empty(asked.folder))
        throw Error(Blame::usage, "folder '", asked.folder, "' is not empty; use another folder, or --force");
}

}  // namespace

Command capture_command() {
    auto manual = manual_of("capture");
    manual.passes_on = true;
    return make_command<CaptureOptions>(std::move(manual), capture_rows(), check, run_capture);
}

}  // namespace cllab::app
