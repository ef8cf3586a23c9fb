// `cllab ncu`: hardware counters of a kernel on an NVIDIA device. NVIDIA's profilers do not support OpenCL. So a child
// process launches the PTX of the program binary again through the CUDA driver, with the cell's arguments, under Nsight
// Compute. Its results are checked like the cell's, and its time is compared with OpenCL's.

#include "app/commands/command_file.hpp"
#include "core/stats.hpp"
#include "inspect/code/hot_code.hpp"
#include "inspect/cuda/ncu_counters.hpp"
#include "inspect/cuda/replay.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;

struct NcuOptions : CellOptions, FileOptions {
    std::string exports_to;  ///< folder of --export
};

constexpr unsigned timed_launches = 25;
constexpr double tolerated = 0.05;  ///< relative difference of the two times that is not reported

std::vector<double> seconds_of(const std::string& printed) {
    const auto line = printed.find("{\"seconds\":");
    if (line == std::string::npos) return {};
    const auto j = nlohmann::json::parse(printed.substr(line, printed.find('\n', line) - line), nullptr, false);
    return j.is_object() ? j.value("seconds", std::vector<double>{}) : std::vector<double>{};
}

class Counting {
public:
    Counting(const NcuOptions& invocation, Runner& runner, OutputFile* json)
        : invocation_(invocation), runner_(runner), json_(json) {}

    /// Returns why the cell could not be counted; nullopt on success.
    std::optional<std::string> count(const model::Cell& cell, const model::Device& device) {
        const inspect::TempFolder temporary;
        const auto record = measured(cell, device, temporary.path() / "dumps");
        if (record.status != model::Status::ok || !record.time)
            return std::string(model::name(record.status)) + ": " + record.reason;
        try {
            const auto replay = inspect::replay_of(cell, device, record, invocation_.seed);
            const auto folder = folder_for(cell, temporary.path());
            inspect::write_cuda_launch(folder, replay.setup, replay.entry, replay.ptx, device.identity,
                                       invocation_.seed);
            if (invocation_.exports_to.empty()) return launched(cell, record, replay, folder);
            results() << printable(record.id) << ": " << printable(folder.string())
                      << " has the PTX, its arguments and launch.cpp\n";
            return std::nullopt;
        } catch (const Unsupported& e) {
            return "it cannot be launched through the CUDA driver, because " + std::string(e.what());
        }
    }

private:
    /// Creates the folder for the launch.
    fs::path folder_for(const model::Cell& cell, const fs::path& temporary) const {
        fs::path folder = temporary / "launch";
        if (!invocation_.exports_to.empty()) {
            folder = fs::path(invocation_.exports_to) / cell.id;
            if (!cell.label.empty()) folder /= folder_name(cell.label);
        }
        if (fs::exists(folder / "launch.txt") && !invocation_.force)
            throw Error(Blame::usage,
                        "folder '" + folder.string() + "' (--export) already contains a launch; --force replaces it");
        std::error_code failed;
        if (fs::create_directories(folder, failed); failed)
            throw Error(Blame::environment,
                        "folder '" + folder.string() + "' (--export) cannot be created: " + failed.message());
        return folder;
    }

    model::Record measured(const model::Cell& cell, const model::Device& device, const fs::path& dumps) {
        run::RunRequest request{std::nullopt, {{cell}}, settings_of(invocation_)};
        request.settings.dumps = dumps;
        return records_of(runner_, request, device.selector).front();
    }

    std::optional<std::string> launched(const model::Cell& cell, const model::Record& record,
                                        const inspect::Replay& replay, const fs::path& folder) {
        const auto milliseconds = std::chrono::milliseconds(static_cast<long>(1000 * invocation_.timeout_seconds));
        const auto plain = inspect::run_launch(folder, timed_launches, milliseconds);
        if (!plain.ok()) return trim(plain.err).empty() ? "the launch " + plain.failure() : trim(plain.err);
        if (const auto wrong = inspect::check_cuda_launch(folder, replay.setup, invocation_.seed))
            return "the result through the CUDA driver is wrong: " + *wrong;
        auto times = seconds_of(plain.out);
        if (times.empty()) return "the launch printed no time";

        model::Counted counted{record.id, record.point, record.device, record.time->median, summarise(times).median,
                               {}};
        results() << printable(record.id) << " on " << printable(record.device.name)
                  << ", right through the CUDA driver too: " << format_seconds(counted.cuda_seconds) << ", by OpenCL "
                  << format_seconds(counted.opencl_seconds) << "\n";
        // A slope's time is per step; the launch's time is for all steps.
        const double ratio = replay.setup.slope ? 1 : counted.cuda_seconds / counted.opencl_seconds;
        if (ratio > 2 || ratio < 0.5)
            return "the CUDA driver cannot run the code that was timed, so nothing is counted";
        if (std::abs(ratio - 1) > tolerated)
            results() << "  the two differ by " << format_significant(100 * std::abs(ratio - 1), 2)
                      << " %: the counters are those of the launch through CUDA\n";
        auto counted_record = record;
        std::optional<std::string> trouble;
        if (const auto ncu = inspect::find_tool({"ncu"}))
            trouble = profiled(*ncu, cell, replay, folder, counted, counted_record);
        else
            trouble =
                "Nsight Compute's ncu not found on PATH or in the CUDA toolkit; --export writes a program to run on "
                "a machine that has it";
        if (!json_) return trouble;
        counted_record.counters = counted.counters;
        counted_record.dump.clear();  // it was a temporary folder
        json_->line(report::to_json_line(counted_record));
        json_->line(report::counters_json(counted));
        return trouble;
    }

    std::optional<std::string> profiled(const fs::path& ncu, const model::Cell& cell, const inspect::Replay& replay,
                                        const fs::path& folder, model::Counted& counted, model::Record& record) {
        const auto limit = std::chrono::milliseconds(static_cast<long>(4000 * invocation_.timeout_seconds));
        if (!invocation_.passed_on.empty()) {
            const auto result = inspect::run_ncu(ncu, replay, folder, invocation_.passed_on, limit);
            results() << printable(result.out, "\n\t");
            return result.ok() ? std::nullopt : std::optional("ncu " + result.failure());
        }
        auto found = inspect::profile_replay(ncu, replay, folder, inspect::Count::everything, limit);
        if (!found.trouble.empty()) return found.trouble;
        counted.counters = std::move(found.counters);
        for (const auto& line : inspect::read_counters(counted.counters))
            results() << fmt::format("  {:<24} {:<60} {}\n", line.what, line.value, line.how);
        if (!found.executed) return std::nullopt;
        record.hot = inspect::hot_code(*found.executed);
        if (found.executed->by_items > 0) print_per_unit(cell, replay, found.executed->by_items);
        results() << printable(inspect::hot_summary(*record.hot), "\n");
        return std::nullopt;
    }

    /// Makes kernels comparable whose work-items do different amounts of work.
    void print_per_unit(const model::Cell& cell, const inspect::Replay& replay, double by_items) {
        const auto units = model::units_of(*cell.experiment, replay.setup);
        if (!units || replay.setup.slope) return;
        results() << fmt::format("  {:<24} {:<60} {}\n", "instructions",
                                 format_significant(by_items / units->number, 3) + " per " + units->unit,
                                 "thread_inst_executed");
    }

    const NcuOptions& invocation_;
    Runner& runner_;
    OutputFile* json_;
};

int run_ncu_command(const NcuOptions& invocation) {
    Outputs outputs(invocation);
    outputs.reads_for(invocation);
    const Choice choice(invocation);
    const auto cells = first_cells(choice, invocation.axes, invocation.patterns);
    // A user's kernels may write anywhere or never end.
    const bool isolated = !invocation.cl_dir.empty() || choice.own();
    const auto runner =
        isolated ? in_child_processes(invocation.timeout_seconds) : in_this_process(invocation.timeout_seconds);
    catch_interrupts();
    const auto devices = runner->devices(invocation.devices);
    for (const auto& device : devices)
        if (device.implementation != model::Implementation::nvidia)
            throw Error(Blame::usage, "`cllab ncu` needs a device with NVIDIA's driver; the platform of '", device.name,
                        "' is ", device.platform);
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

Rows<NcuOptions> ncu_rows() {
    Rows<NcuOptions> rows;
    rows.with(choice_rows())
        .with(kernel_file_rows())
        .text("export", "DIR", &NcuOptions::exports_to)
        .with(text_rows())
        .text("json", "FILE", &NcuOptions::json)
        .with(process_rows())
        .with(replace_rows("--json"));
    return rows;
}

}  // namespace

Command ncu_command() {
    auto manual = manual_of("ncu");
    manual.passes_on = true;
    return make_command<NcuOptions>(
        std::move(manual), ncu_rows(),
        [](NcuOptions& options) {
            need_pattern(options, "a PATTERN, e.g. pitch_wide; `cllab list` prints the kernels");
        },
        run_ncu_command);
}

}  // namespace cllab::app
