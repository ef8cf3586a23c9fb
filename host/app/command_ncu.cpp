// `cllab ncu`: hardware counters of a kernel on an NVIDIA device. NVIDIA's profilers see no OpenCL, so the PTX of the program
// binary is launched once more through the CUDA driver, with the cell's own arguments, in a child process under Nsight Compute. What it
// computes is checked like the cell, and its time is held against OpenCL's.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/child.hpp"
#include "app/choice.hpp"
#include "app/commands.hpp"
#include "app/cuda_launch.hpp"
#include "app/outputs.hpp"
#include "app/request.hpp"
#include "app/runner.hpp"
#include "app/say.hpp"
#include "app/stdout_guard.hpp"
#include "app/streams.hpp"
#include "core/error.hpp"
#include "core/stats.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "explain/counters.hpp"
#include "inspect/binary.hpp"
#include "inspect/tool.hpp"
#include "model/params.hpp"
#include "report/counters.hpp"
#include "report/json.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;

constexpr unsigned timed_launches = 25;
constexpr double tolerated = 0.05;  ///< difference of the two times that is not worth a sentence
// Whole sections and not single counters, whose names change from one architecture to the next.
const std::vector<std::string> default_options{"--section", "SpeedOfLight", "--section", "MemoryWorkloadAnalysis", "--section", "ComputeWorkloadAnalysis",
                                               "--section", "InstructionStats", "--section", "WarpStateStats", "--section", "Occupancy",
                                               "--section", "LaunchStats", "--metrics",
                                               "dram__bytes_read.sum,dram__bytes_write.sum,lts__t_bytes.sum,lts__t_sectors_op_read.sum,l1tex__t_bytes.sum,"
                                               "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum,gpu__time_duration.sum"};

/// The PTX among the files of a dump.
std::optional<std::string> ptx_of(const fs::path& dump) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(dump, ignored)) {
        if (!entry.is_regular_file(ignored)) continue;
        auto content = inspect::read_file(entry.path());
        if (content && inspect::recognise(inspect::as_bytes(*content)) == inspect::Kind::ptx) return content;
    }
    return std::nullopt;
}

std::vector<double> seconds_of(const std::string& printed) {
    const auto line = printed.find("{\"seconds\":");
    if (line == std::string::npos) return {};
    const auto j = nlohmann::json::parse(printed.substr(line, printed.find('\n', line) - line), nullptr, false);
    return j.is_object() ? j.value("seconds", std::vector<double>{}) : std::vector<double>{};
}

class Counting {
public:
    Counting(const Invocation& invocation, Runner& runner, OutputFile* json) : invocation_(invocation), runner_(runner), json_(json) {}

    /// Why it could not be done; nothing when it was.
    std::optional<std::string> count(const model::Cell& cell, const model::Device& device) {
        const inspect::TempFolder temporary;
        const auto record = measured(cell, device, temporary.path() / "dumps");
        if (record.status != model::Status::ok || !record.time) return std::string(model::name(record.status)) + ": " + record.reason;
        const std::map<std::string, model::Loaded> no_files;
        const auto setup = model::set_up(*cell.experiment, {*cell.variant, cell.point, device, invocation_.seed, no_files});
        if (const auto reason = not_for_cuda(setup)) return "it cannot be launched through the CUDA driver, because " + *reason;
        const auto ptx = record.dump.empty() ? std::nullopt : ptx_of(record.dump);
        if (!ptx) return "its program binary is no PTX";

        fs::path folder = temporary.path() / "launch";
        if (!invocation_.exports_to.empty()) {
            folder = fs::path(invocation_.exports_to) / record.id;
            if (!cell.label.empty()) folder /= folder_name(cell.label);
        }
        if (fs::exists(folder / "launch.txt") && !invocation_.force)
            throw Error(Blame::usage, "folder '" + folder.string() + "' (--export) has a launch already; --force replaces it");
        std::error_code failed;
        if (fs::create_directories(folder, failed); failed)
            throw Error(Blame::environment, "folder '" + folder.string() + "' (--export) cannot be made: " + failed.message());
        const auto entry = entry_of(setup).value_or(cell.experiment->entry(*cell.variant));
        try {
            write_cuda_launch(folder, setup, entry, *ptx, device.identity, invocation_.seed);
        } catch (const Unsupported& e) {
            return "it cannot be launched through the CUDA driver, because " + std::string(e.what());
        }
        if (!invocation_.exports_to.empty()) {
            results() << printable(record.id) << ": " << printable(folder.string()) << " has the PTX, its arguments and launch.cpp\n";
            return std::nullopt;
        }
        return launched(record, setup, entry, folder);
    }

private:
    model::Record measured(const model::Cell& cell, const model::Device& device, const fs::path& dumps) {
        run::RunRequest request{std::nullopt, {{cell}}, settings_of(invocation_)};
        request.settings.dumps = dumps;
        model::Record out;
        const Events events{[](std::size_t, std::size_t, const model::Record&, const char*) {},
                            [&](std::size_t, std::size_t, const model::Record& record) { out = record; }};
        runner_.run(request, device.selector, events);
        return out;
    }

    std::optional<std::string> launched(const model::Record& record, const model::Setup& setup, const std::string& entry, const fs::path& folder) {
        const auto milliseconds = std::chrono::milliseconds(static_cast<long>(1000 * invocation_.timeout_seconds));
        const std::vector<std::string> child{"cuda-launch", folder.string()};
        const auto plain = inspect::run_tool(this_program(), {child[0], child[1], std::to_string(timed_launches)}, milliseconds);
        if (!plain.ok()) return trim(plain.err).empty() ? "the launch " + plain.failure() : trim(plain.err);
        if (const auto wrong = check_cuda_launch(folder, setup, invocation_.seed)) return "wrong through the CUDA driver: " + *wrong;
        auto times = seconds_of(plain.out);
        if (times.empty()) return "the launch printed no time";

        model::Counted counted{record.id, record.point, record.device, record.time->median, summarise(times).median, {}};
        results() << printable(record.id) << " on " << printable(record.device.name) << ", right through the CUDA driver too: "
                  << format_seconds(counted.cuda_seconds) << ", by OpenCL " << format_seconds(counted.opencl_seconds) << "\n";
        // A slope's time is of one step, the launch's of all of them.
        const double ratio = setup.slope ? 1 : counted.cuda_seconds / counted.opencl_seconds;
        if (ratio > 2 || ratio < 0.5) return "what the CUDA driver ran cannot be what was timed, so nothing is counted";
        if (std::abs(ratio - 1) > tolerated)
            results() << "  the two differ by " << format_significant(100 * std::abs(ratio - 1), 2)
                      << " %: the counters are those of the launch through CUDA\n";
        std::optional<std::string> trouble;
        if (const auto ncu = inspect::find_tool({"ncu"})) trouble = profiled(*ncu, child, entry, counted, milliseconds);
        else trouble = "Nsight Compute's ncu is not on PATH nor in the CUDA toolkit; --export writes what a machine with it needs";
        if (!json_) return trouble;
        auto kept = record;
        kept.counters = counted.counters;
        kept.dump.clear();  // it was a folder for the time of the count
        json_->line(report::to_json_line(kept));
        json_->line(report::counters_json(counted));
        return trouble;
    }

    std::optional<std::string> profiled(const fs::path& ncu, const std::vector<std::string>& child, const std::string& entry, model::Counted& counted,
                                        std::chrono::milliseconds limit) {
        const bool own = !invocation_.tool_options.empty();
        std::vector<std::string> arguments{"--clock-control", "none", "--launch-count", "1", "--kernel-name", entry};
        if (!own) arguments.insert(arguments.end(), {"--csv", "--page", "raw", "--print-units", "base"});
        const auto& options = own ? invocation_.tool_options : default_options;
        arguments.insert(arguments.end(), options.begin(), options.end());
        arguments.insert(arguments.end(), {this_program().string(), child[0], child[1], "0"});
        const auto result = inspect::run_tool(ncu, arguments, 4 * limit);
        const auto said = result.out + result.err;
        if (said.find("ERR_NVGPUCTRPERM") != std::string::npos)
            return "this user may not read the counters (ERR_NVGPUCTRPERM): an administrator allows it with the driver's option "
                   "NVreg_RestrictProfilingToAdminUsers=0";
        if (own) {
            results() << printable(result.out, "\n\t");
            return result.ok() ? std::nullopt : std::optional("ncu " + result.failure());
        }
        counted.counters = explain::parse_ncu(result.out);
        if (counted.counters.empty()) {
            const auto error = said.find("==ERROR==");
            return "ncu counted nothing: " + (error == std::string::npos ? result.failure() : one_line(said.substr(error, said.find('\n', error) - error)));
        }
        for (const auto& line : explain::read_counters(counted.counters)) results() << fmt::format("  {:<24} {:<60} {}\n", line.what, line.value, line.how);
        return std::nullopt;
    }

    const Invocation& invocation_;
    Runner& runner_;
    OutputFile* json_;
};

}  // namespace

int command_ncu(const Invocation& invocation) {
    Outputs outputs(invocation);
    const Choice choice(invocation);
    const auto cells = first_cells(choice, invocation.axes, invocation.patterns);
    // Text that is not the lab's own may write anywhere and never end.
    const bool isolated = !invocation.cl_dir.empty() || choice.own();
    const auto runner = isolated ? in_child_processes(invocation.timeout_seconds) : in_this_process();
    catch_interrupts();
    catch_driver_crashes();
    const auto devices = runner->devices(invocation.devices);
    for (const auto& device : devices)
        if (device.implementation != model::Implementation::nvidia)
            throw Error(Blame::usage, "`cllab ncu` needs a device of NVIDIA's driver; '" + device.name + "' is one of " + device.platform);
    outputs.open();
    int status = 0;
    for (const auto& device : devices)
        for (const auto& cell : cells) {
            Counting counting(invocation, *runner, outputs.json());
            const auto trouble = counting.count(cell, device);
            if (!trouble) continue;
            say(cell.id + ": " + *trouble);
            status = 1;
        }
    return status;
}

}  // namespace cllab::app
