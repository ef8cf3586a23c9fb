// `--rebuild N`.
//
// Compilers have been seen to choose between two schedules by the addresses of their own process, 6 % apart. Building
// again in one process misses that, and so does a forked one, which has its parent's addresses. So each build is a new
// program, with the randomisation of addresses on and an empty cache of the driver's; a second process runs the same
// build from that cache, so that two processes of one code can be told from two codes.
#include <fmt/format.h>
#include <sys/personality.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/choose/request.hpp"
#include "app/code/isa_code.hpp"
#include "app/commands.hpp"
#include "app/files/outputs.hpp"
#include "app/processes/runner.hpp"
#include "app/processes/worker.hpp"
#include "app/screen/streams.hpp"
#include "compare/build_spread.hpp"
#include "compare/family_test.hpp"
#include "core/grouped.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "device/driver_settings.hpp"
#include "inspect/tools/tool.hpp"
#include "model/registry.hpp"
#include "report/records/json.hpp"
#include "report/table/layout.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;

/// Lets the programs started from here have addresses of their own each.
void randomise_addresses() {
    constexpr unsigned long ask = 0xffffffff;
    const int now = personality(ask);
    if (now >= 0 && (now & ADDR_NO_RANDOMIZE)) personality(static_cast<unsigned long>(now & ~ADDR_NO_RANDOMIZE));
    if (cllab::read_file("/proc/sys/kernel/randomize_va_space").value_or("2").front() == '0')
        say("this machine does not randomize addresses (kernel.randomize_va_space), so a compiler whose output depends "
            "on addresses makes one code");
}

inspect::ToolResult start_again(const std::vector<std::string>& environment, const std::vector<std::string>& arguments,
                                double seconds) {
    const auto env = inspect::find_tool({"env"});
    if (!env) throw Error(Blame::environment, "--rebuild needs the program 'env' on PATH");
    auto all = environment;
    all.push_back(this_program().string());
    all.insert(all.end(), arguments.begin(), arguments.end());
    return inspect::run_tool(*env, all, std::chrono::milliseconds(static_cast<long>(1000 * seconds)));
}

/// The command line of `command` for the cell's text.
std::vector<std::string> arguments_of(const char* command, const CellOptions& invocation, const model::Cell& cell) {
    std::vector<std::string> out{command, cell.id};
    for (const auto& [axis, value] : cell.point.values()) out.insert(out.end(), {"--axis", axis + "=" + value});
    if (!invocation.cl_dir.empty()) out.insert(out.end(), {"--cl-dir", invocation.cl_dir});
    if (!invocation.build_options.empty()) out.insert(out.end(), {"--build-options", invocation.build_options});
    for (const auto& [option, value] : invocation.statements)
        if (option == "tolerance") out.insert(out.end(), {"--tolerance", value});
    return out;
}

std::string title_of(const model::Cell& cell) { return cell.id + (cell.label.empty() ? "" : " " + cell.label); }

void print_codes(const std::vector<compare::CodeTimes>& codes, const char* what) {
    std::vector<report::Column> columns{{.title = "code"}, {.title = what, .right = true}};
    std::vector<std::optional<double>> times;
    for (const auto& code : codes) {
        report::add_row(columns, {code.code.empty() ? "unknown" : code.code.substr(0, 12), std::to_string(code.runs)});
        times.push_back(code.median > 0 ? std::optional(code.median) : std::nullopt);
    }
    if (std::ranges::any_of(times, [](const auto& t) { return t.has_value(); }))
        columns.push_back(report::quantity_column({.title = "median"}, times, "s"));
    const report::Grid grid(columns, page_width(), wants_colour());
    results() << grid.header() << '\n';
    for (std::size_t i = 0; i < codes.size(); ++i) results() << grid.row(i) << '\n';
}

std::string deviation(double part) {
    return part < 0 ? "unknown from so few" : fmt::format("{:.2f} %", 100 * std::expm1(part));
}

void print_split(const compare::SpreadSplit& parts, std::size_t codes) {
    results() << "spread (standard deviation): between codes "
              << (codes == 1 ? "none, there is one" : deviation(parts.between_codes))
              << ", between arrangements of one code " << deviation(parts.between_arrangements) << ", within one "
              << deviation(parts.within) << "\n";
}

struct Rebuilt {
    std::vector<compare::BuiltRun> runs;
    /// Processes without a time; first builds that came from a cache; second ones with another code.
    unsigned failed = 0, cached = 0, moved = 0;
    std::string failure;
};

/// One process that builds, verifies and times the cell; its record, or nothing with the reason in `out`.
std::optional<model::Record> run_once(const RunOptions& invocation, const model::Cell& cell,
                                      const model::Device& device, std::uint64_t seed,
                                      const std::vector<std::string>& environment, Rebuilt& out) {
    auto arguments = arguments_of("run", invocation, cell);
    arguments.insert(arguments.end(), {"--device", device.selector, "--no-dumps", "--no-yardstick", "--json", "-",
                                       "--cache", invocation.cache, "--seed", std::to_string(seed), "--max-time", "0.2",
                                       "--timeout", format_exact(invocation.timeout_seconds)});
    for (const auto& [name, path] : invocation.inputs)
        arguments.insert(arguments.end(), {"--input", name + "=" + path});
    const auto result = start_again(environment, arguments, 3 * invocation.timeout_seconds);
    const auto line = result.out.substr(0, result.out.find('\n'));
    try {
        if (line.empty()) throw Error(Blame::result, result.failure());
        auto record = report::from_json(line);
        if (record.status != model::Status::ok || !record.time)
            throw Error(Blame::result, std::string(model::name(record.status)) + ": " + record.reason);
        return record;
    } catch (const Error& e) {
        ++out.failed;
        out.failure = e.what();
        return std::nullopt;
    }
}

Rebuilt rebuild(const RunOptions& invocation, const model::Cell& cell, const model::Device& device, OutputFile* json) {
    Rebuilt out;
    for (unsigned build = 0; build < invocation.rebuild; ++build) {
        const inspect::TempFolder cache;
        const auto environment = device::compile_cache_settings(device, cache.path().string());
        std::string code;
        for (const bool first : {true, false}) {
            if (interrupted()) throw run::Interrupted{};
            const auto record = run_once(invocation, cell, device, invocation.seed + build, environment, out);
            if (!record) break;
            if (json) json->line(report::to_json_line(*record));
            if (first) {
                code = record->code.fingerprint;
                // An empty folder that stays empty was not the driver's cache; a build in no time came from another
                // one.
                out.cached += record->build.cached || (!environment.empty() && fs::is_empty(cache.path()));
            } else {
                out.moved += record->code.fingerprint != code;
            }
            out.runs.push_back({record->code.fingerprint, record->samples});
        }
        if (out.failed) break;  // the same text fails again
    }
    return out;
}

void print(const model::Cell& cell, const model::Device& device, const Rebuilt& rebuilt, unsigned builds) {
    results() << title_of(cell) << " on " << printable(device.name) << ", built " << builds
              << " times, each build run by two processes\n";
    if (!rebuilt.failure.empty()) results() << "a build failed: " << printable(rebuilt.failure) << '\n';
    if (rebuilt.runs.empty()) return;
    const auto codes = compare::codes_of(rebuilt.runs);
    print_codes(codes, "processes");
    print_split(compare::split(rebuilt.runs), codes.size());
    if (device::compile_cache_settings(device, "x").empty())
        results() << "This driver has no known cache shared by processes: both processes of a build compiled.\n";
    else if (rebuilt.cached)
        results() << "Check: " << rebuilt.cached
                  << " builds came from a driver cache that cllab could not empty, so they are not separate builds.\n";
    else
        results() << "Check: every build filled an empty cache.\n";
    if (rebuilt.moved)
        results() << "In " << rebuilt.moved
                  << " builds, the second process had other code than the first: the driver compiled again.\n";
}

/// Medians of the processes.
std::vector<double> logs_of(const Rebuilt& rebuilt) {
    return mapped(rebuilt.runs, [](const auto& run) { return std::log(summarise(run.samples).median); });
}

}  // namespace

int rebuild_on_devices(const RunOptions& invocation) {
    Outputs outputs(invocation);
    outputs.reads_for(invocation);
    catch_interrupts();
    randomise_addresses();
    const auto request = request_of(Choice(invocation), invocation);
    const auto runner = in_child_processes(invocation.timeout_seconds);
    const auto devices = named_devices(*runner, invocation.devices);
    for (const auto& device : devices) check_points(request, device);
    outputs.open();
    bool failed = false;
    try {
        for (const auto& device : devices) {
            for (const auto& group : request.comparisons) {
                std::vector<Rebuilt> of_group;
                for (const auto& cell : group) {
                    of_group.push_back(rebuild(invocation, cell, device, outputs.json()));
                    failed = failed || of_group.back().failed;
                    if (outputs.json() && outputs.json()->is_stdout()) continue;
                    print(cell, device, of_group.back(), invocation.rebuild);
                    results() << '\n' << std::flush;
                }
                if (invocation.versus.empty() || (outputs.json() && outputs.json()->is_stdout()) ||
                    of_group.size() != 2)
                    continue;
                const auto ratio = compare::estimate_between(logs_of(of_group.front()), logs_of(of_group.back()), 0.99);
                results() << group.front().id << " over " << group.back().id
                          << ", over all builds: " << fmt::format("{:.4f}", ratio.ratio)
                          << (ratio.covered() ? fmt::format(" [{:.4f}, {:.4f}]", ratio.low, ratio.high)
                                              : ", too few builds for an interval")
                          << "; these processes share no arrangement, so `--vs` without --rebuild finds smaller "
                             "differences\n";
            }
        }
    } catch (const run::Interrupted&) {
        say("interrupted; the finished builds are printed");
        return 130;
    }
    return failed;
}

namespace {

/// Compiles the cell in that many processes and prints how often each code came out. Why it could not; else nothing.
std::string rebuild_one(const IsaOptions& invocation, const model::Cell& cell, const std::string& target) {
    std::vector<compare::BuiltRun> runs;
    std::string failure;
    for (unsigned build = 0; build < invocation.rebuild && failure.empty(); ++build) {
        const inspect::TempFolder folder;
        auto arguments = arguments_of("isa", invocation, cell);
        arguments.insert(arguments.end(), {"--target", target, "--summary", "--dumps", folder.path().string()});
        // comgr keeps what it compiles when the user's environment says so.
        const auto result = start_again({"AMD_COMGR_CACHE=0", "CUDA_CACHE_DISABLE=1"}, arguments, 120);
        std::string code;
        for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
            if (entry.path().filename() != "stats.json") continue;
            const auto stats = nlohmann::json::parse(cllab::read_file(entry.path()).value_or(""), nullptr, false);
            if (stats.is_object() && stats.contains("fingerprint") && stats["fingerprint"].is_string())
                code = stats["fingerprint"].get<std::string>();
        }
        if (!result.ok())
            failure = trim(result.err).empty() ? result.failure() : trim(result.err);
        else if (code.empty())
            failure = "no disassembler here reads it, so its code cannot be compared";
        else
            runs.push_back({code, {}});
    }
    results() << title_of(cell) << " for " << printable(target) << ", built " << runs.size() << " times\n";
    if (!runs.empty()) print_codes(compare::codes_of(runs), "builds");
    results() << '\n';
    return failure;
}

}  // namespace

int rebuild_for_target(const IsaOptions& invocation) {
    randomise_addresses();
    std::vector<model::Cell> cells;
    for (auto& group : model::make_plan(model::select(model::registry(), invocation.patterns), invocation.axes))
        for (auto& cell : group)
            if (!invocation.axes.empty() || std::ranges::none_of(cells, [&](const auto& c) { return c.id == cell.id; }))
                cells.push_back(cell);
    bool failed = false;
    for (const auto& target : invocation.targets)
        for (const auto& cell : cells) {
            const auto failure = rebuild_one(invocation, cell, target);
            if (failure.empty()) continue;
            say(cell.id + " for " + target + ": " + failure);
            failed = true;
        }
    return failed ? 1 : 0;
}

}  // namespace cllab::app
