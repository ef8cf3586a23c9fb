// `cllab capture`: a program's kernels by time, and a launch of each as a kernel file with its data and proof.
#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/commandline/groups.hpp"
#include "app/commands.hpp"
#include "app/files/outputs.hpp"
#include "app/processes/worker.hpp"
#include "app/screen/streams.hpp"
#include "capture/board.hpp"
#include "capture/observed.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "inspect/tools/tool.hpp"
#include "report/table/layout.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;
using capture::Board;
using Json = nlohmann::ordered_json;
using Kernels = std::vector<capture::KernelSeen>;

struct CaptureOptions : Call, FileOptions {
    Strings kernels;
    std::string launch, folder;
    bool no_times = false;
};

fs::path layer() {
    constexpr const char* name = "cllab-capture-layer.so";
    std::error_code ignored;
    const auto folder = this_program().parent_path();
    for (const auto& path : {folder / name, folder.parent_path() / "lib" / "cllab" / name})
        if (fs::is_regular_file(path, ignored)) return path;
    throw Error(Blame::environment, "the layer ", name, " is neither beside the program nor in ../lib/cllab");
}

/// Inherited by the program.
void set_environment(const CaptureOptions& asked, const fs::path& board) {
    const char* others = std::getenv("OPENCL_LAYERS");
    // The first one is nearest the driver: it sees what other layers make of a call.
    const auto layers = layer().string() + (others && *others ? std::string(":") + others : "");
    ::setenv("OPENCL_LAYERS", layers.c_str(), 1);
    ::setenv("CLLAB_CAPTURE_BOARD", board.c_str(), 1);
    ::setenv("CLLAB_CAPTURE_TIMES", asked.no_times ? "0" : "1", 1);
    ::setenv("CLLAB_CAPTURE_KERNELS", join(asked.kernels, ",").c_str(), 1);
    ::setenv("CLLAB_CAPTURE_LAUNCH", asked.launch.c_str(), 1);
    ::setenv("CLLAB_CAPTURE_FOLDER", (fs::current_path() / asked.folder).c_str(), 1);
}

/// Why no layer answered, and what to do.
std::string not_loaded(const capture::Observed& program) {
    if (program.loader.empty() && program.drivers.empty())
        return "the program called no OpenCL: no process of it was seen with an OpenCL library";
    if (program.loader.empty())
        return "the program has an OpenCL loader linked into it statically, and that one loads no layers (its driver "
               "is " +
               program.drivers + "); link it with libOpenCL.so";
    const auto own = capture::own_loader();
    std::string out = "the program's OpenCL loader " + program.loader + " did not load the layer";
    if (!own.empty() && own != program.loader)
        out += "; to give the program the system's loader: cllab capture -- env LD_PRELOAD=" + own + " PROGRAM";
    return out + "; loaders that load layers are ocl-icd from 2.3.0 and Khronos' from 2020 on, NVIDIA's is none";
}

std::vector<std::uint64_t> given(const capture::Sizes& sizes) {
    return {sizes.begin(), std::ranges::find(sizes, std::uint64_t{0})};
}

std::string sizes_text(const capture::Sizes& sizes) {
    return join(given(sizes), "x", [](auto size) { return std::to_string(size); });
}

double all_seconds(const Kernels& kernels) {
    double out = 0;
    for (const auto& kernel : kernels) out += kernel.seconds;
    return out;
}

void print_captured(std::ostream& out, const Kernels& kernels, unsigned width) {
    constexpr std::size_t most_rows = 30;
    const auto shown = std::min(kernels.size(), most_rows);
    const auto all = all_seconds(kernels);
    report::Column name{.title = "kernel", .names = report::Names::by_itself},
        launches{.title = "launches", .right = true}, share{.title = "share", .right = true},
        global{.title = "global", .keep = 60}, local{.title = "local", .keep = 50};
    std::vector<std::optional<double>> times, means;
    for (std::size_t i = 0; i < shown; ++i) {
        const auto& kernel = kernels[i];
        const auto& sizes = *kernel.rows.front();
        const auto more = kernel.rows.size() - 1;
        name.cells.push_back(kernel.kernel);
        launches.cells.push_back(std::to_string(kernel.launches));
        times.push_back(kernel.seconds);
        means.push_back(kernel.seconds / static_cast<double>(kernel.launches));
        share.cells.push_back(fmt::format("{:.1f}%", all > 0 ? 100 * kernel.seconds / all : 0));
        global.cells.push_back(sizes_text(sizes.global) + (more ? concat(" +", more) : ""));
        local.cells.push_back(given(sizes.local).empty() ? "driver's" : sizes_text(sizes.local));
    }
    std::vector<report::Column> columns{name, launches};
    if (all > 0) {
        columns.push_back(report::quantity_column({.title = "time", .right = true}, times, "s"));
        columns.push_back(report::quantity_column({.title = "mean", .right = true, .keep = 70}, means, "s"));
        columns.push_back(share);
    }
    columns.insert(columns.end(), {global, local});
    const report::Grid grid(std::move(columns), width, false);
    out << grid.header() << '\n';
    for (std::size_t i = 0; i < shown; ++i) out << grid.row(i) << '\n';
    if (kernels.size() > shown)
        out << report::counted(kernels.size() - shown, "more kernel") << ", which took less; --json has all\n";
}

void print_capture(std::ostream& out, const Board& board, const Kernels& kernels) {
    const auto width = page_width(100);
    std::uint64_t launches = 0;
    Strings devices, copies;
    for (const auto& kernel : kernels) {
        launches += kernel.launches;
        if (std::ranges::find(devices, kernel.device) == devices.end()) devices.push_back(kernel.device);
    }
    for (std::size_t i = 0; i < board.copies.size(); ++i)
        if (const auto& of = board.copies[i]; of.count > 0)
            copies.push_back(concat(of.count.load(), " ", capture::copy_names[i], " of ", format_bytes(of.bytes),
                                    of.ns > 0 ? " in " + format_seconds(of.seconds()) : ""));
    const auto line = [&](const std::string& text) { out << report::wrap(text, "", width); };
    const auto all = all_seconds(kernels);
    line(concat(launches, launches == 1 ? " launch of " : " launches of ", report::counted(kernels.size(), "kernel"),
                devices.empty() ? "" : " on " + join(devices, ", "), all > 0 ? ": " + format_seconds(all) : ""));
    if (!kernels.empty()) print_captured(out, kernels, width);
    if (!copies.empty()) line("copies: " + join(copies, ", "));
    if (board.builds.count > 0)
        line(concat(report::counted(board.builds.count, "build"), " in ", format_seconds(board.builds.seconds())));
    if (board.queues_with_times_added > 0)
        line(concat("profiling was added to ", report::counted(board.queues_with_times_added, "queue"),
                    "; --no-times leaves them as they are"));
}

void print_files(const Board& board, const CaptureOptions& asked) {
    const auto kept = capture::kept_on(board);
    for (const auto* row : kept)
        std::cerr << printable(concat("  cllab run ", (fs::path(asked.folder) / row->file.get()).string(),
                                      "  # launch ", row->launch,
                                      row->ns > 0 ? ", " + format_seconds(static_cast<double>(row->ns) * 1e-9) : "",
                                      row->changed ? "" : "; it left all that it was given as it was",
                                      row->has_text ? "" : "; a binary: it runs on this device and driver only"))
                  << '\n';
    if (kept.empty() && !asked.kernels.empty())
        say("no launch of a kernel " + join(asked.kernels, ", ") + " was kept; the table has the kernels' names");
}

void write_capture_json(OutputFile& file, const Board& board, const Kernels& kernels, const Strings& command, int status) {
    const auto line = [&](const Json& json) {
        file.line(json.dump(-1, ' ', false, Json::error_handler_t::replace));
    };
    Json copies = Json::object();
    for (std::size_t i = 0; i < board.copies.size(); ++i)
        copies[capture::copy_names[i]] = {{"count", board.copies[i].count.load()},
                                          {"bytes", board.copies[i].bytes.load()},
                                          {"seconds", board.copies[i].seconds()}};
    line({{"command", command},
          {"status", status},
          {"loader", board.loader.get()},
          {"profiling_added", board.queues_with_times_added.load()},
          {"builds", board.builds.count.load()},
          {"build_seconds", board.builds.seconds()},
          {"copies", copies},
          {"notes", capture::notes_on(board)}});
    for (const auto& kernel : kernels) {
        Json sizes = Json::array();
        for (const auto* row : kernel.rows)
            sizes.push_back({{"global", given(row->global)},
                             {"local", given(row->local)},
                             {"launches", row->launches.count.load()},
                             {"timed", row->launches.timed.load()},
                             {"seconds", row->launches.seconds()}});
        line({{"kernel", kernel.kernel},
              {"device", kernel.device},
              {"launches", kernel.launches},
              {"seconds", kernel.seconds},
              {"sizes", sizes}});
    }
    for (const auto* row : capture::kept_on(board))
        line({{"file", row->file.get()},
              {"kernel", row->kernel.get()},
              {"launch", row->launch},
              {"seconds", static_cast<double>(row->ns) * 1e-9},
              {"changed", row->changed},
              {"has_text", row->has_text}});
}

int run_capture(const CaptureOptions& asked) {
    Outputs outputs(asked);
    const inspect::TempFolder folder;
    outputs.open();
    std::error_code trouble;
    if (!asked.folder.empty() && !fs::create_directories(asked.folder, trouble) && trouble)
        throw Error(Blame::environment, "folder '", asked.folder, "' cannot be made: ", trouble.message());
    const auto path = folder.path() / "board";
    const auto* board = capture::map_board(path, true);
    if (!board) throw Error(Blame::environment, "'", path.string(), "' cannot be written: ", std::strerror(errno));
    set_environment(asked, path);
    const auto program = capture::run_observed(asked.passed_on, results_fd(), *board);
    if (program.signal) say(concat("the program was ended by signal ", program.signal, "; what it did before is here"));
    const auto kernels = capture::kernels_on(*board);
    if (auto* json = outputs.json()) write_capture_json(*json, *board, kernels, asked.passed_on, program.status);
    if (board->processes == 0) {
        say(not_loaded(program));
        return program.status ? program.status : 3;
    }
    std::ostringstream page;
    print_capture(page, *board, kernels);
    std::cerr << page.str();
    print_files(*board, asked);
    for (const auto& note : capture::notes_on(*board)) say(note);
    return program.status;
}

Rows<CaptureOptions> capture_rows() {
    Rows<CaptureOptions> rows;
    rows.list("kernel,k", "PATTERN", &CaptureOptions::kernels)
        .text("launch", "N", &CaptureOptions::launch)
        .text("output,o", "FOLDER", &CaptureOptions::folder)
        .flag("no-times", &CaptureOptions::no_times)
        .text("json", "FILE", &CaptureOptions::json)
        .with(replace_rows());
    return rows;
}

void check(CaptureOptions& asked) {
    refuse_patterns(asked, "the program stands behind --, as in cllab capture -- python3 app.py");
    if (asked.passed_on.empty())
        throw Error(Blame::usage, "`cllab capture` takes a program behind --, as in cllab capture -- python3 app.py");
    const auto number = parse_integer(asked.launch);
    if (!asked.launch.empty() && (!number || *number < 1))
        throw Error(Blame::usage, "option '--launch' is ", cllab::quoted(asked.launch), ", not a number from 1");
    if (asked.kernels.empty() != asked.folder.empty())
        throw Error(Blame::usage, "--kernel and --output go together: cllab capture -k 'scan*' -o scan -- PROGRAM");
    std::error_code ignored;
    if (!asked.folder.empty() && !asked.force && fs::exists(asked.folder, ignored) &&
        !fs::is_empty(asked.folder, ignored))
        throw Error(Blame::usage, "folder '", asked.folder, "' holds files; name another one, or add --force");
}

}  // namespace

Command capture_command() {
    auto manual = manual_of("capture");
    manual.passes_on = true;
    return make_command<CaptureOptions>(std::move(manual), capture_rows(), check, run_capture);
}

}  // namespace cllab::app
