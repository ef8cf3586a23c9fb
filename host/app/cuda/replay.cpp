#include "app/cuda/replay.hpp"

#include <array>
#include <map>

#include "app/cuda/cuda_launch.hpp"
#include "app/processes/worker.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "explain/counters.hpp"
#include "inspect/binary/binary.hpp"
#include "model/params.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;

// Whole sections and not single counters, whose names change from one architecture to the next.
constexpr std::array sections{"SpeedOfLight",     "MemoryWorkloadAnalysis", "ComputeWorkloadAnalysis",
                              "InstructionStats", "WarpStateStats",         "Occupancy",
                              "LaunchStats"};
constexpr auto counters =
    "dram__bytes_read.sum,dram__bytes_write.sum,lts__t_bytes.sum,lts__t_sectors_op_read.sum,l1tex__t_bytes.sum,"
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum,gpu__time_duration.sum";
constexpr auto executions = "inst_executed,thread_inst_executed";

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

/// Why ncu counted nothing, in one sentence; empty where it says nothing of the kind.
std::string trouble_in(const inspect::ToolResult& result) {
    const auto said = result.out + result.err;
    if (said.find("ERR_NVGPUCTRPERM") != std::string::npos)
        return "this user may not read the counters (ERR_NVGPUCTRPERM): an administrator allows it with the driver's "
               "option "
               "NVreg_RestrictProfilingToAdminUsers=0";
    if (const auto error = said.find("==ERROR=="); error != std::string::npos)
        return "ncu counted nothing: " + one_line(said.substr(error, said.find('\n', error) - error));
    return result.ok() ? std::string() : "ncu " + result.failure();
}

}  // namespace

Replay replay_of(const model::Cell& cell, const model::Device& device, const model::Record& record,
                 std::uint64_t seed) {
    const std::map<std::string, model::Loaded> no_files;
    Replay out{model::set_up(*cell.experiment, {*cell.variant, cell.point, device, seed, no_files}), {}, {}};
    if (const auto reason = not_for_cuda(out.setup)) throw Unsupported(*reason);
    auto ptx = record.dump.empty() ? std::nullopt : ptx_of(record.dump);
    if (!ptx) throw Unsupported("its program binary is no PTX");
    out.ptx = std::move(*ptx);
    out.entry = entry_of(out.setup).value_or(cell.experiment->entry(*cell.variant));
    return out;
}

std::vector<std::string> replay_command(const fs::path& folder, unsigned timed) {
    return {"cuda-launch", folder.string(), std::to_string(timed)};
}

inspect::ToolResult run_ncu(const fs::path& ncu, const Replay& replay, const fs::path& folder,
                            std::vector<std::string> options, std::chrono::milliseconds limit) {
    options.insert(options.begin(), {"--clock-control", "none", "--launch-count", "1", "--kernel-name", replay.entry});
    options.push_back(this_program().string());
    for (auto& word : replay_command(folder, 0)) options.push_back(std::move(word));
    auto result = inspect::run_tool(ncu, options, limit);
    if (const auto trouble = trouble_in(result); !trouble.empty() && result.ok()) result.status = 1;
    return result;
}

Profiled profile_replay(const fs::path& ncu, const Replay& replay, const fs::path& folder, Count what,
                        std::chrono::milliseconds limit) {
    Profiled out;
    // The counters and the executed instructions are two pages of one report.
    const auto report = folder / "counted.ncu-rep";
    std::vector<std::string> options{"--force-overwrite", "--export", report.string(), "--metrics", executions};
    if (what == Count::everything) {
        options.back() += std::string(",") + counters;
        for (const auto* section : sections) options.insert(options.end(), {"--section", section});
    }
    const auto counted = run_ncu(ncu, replay, folder, options, limit);
    out.trouble = trouble_in(counted);
    if (!out.trouble.empty()) return out;
    const auto page = [&](std::vector<std::string> how) {
        how.insert(how.begin(), {"--import", report.string(), "--csv", "--page"});
        return inspect::run_tool(ncu, how, limit);
    };
    if (what == Count::everything) {
        const auto raw = page({"raw", "--print-units", "base"});
        out.counters = explain::parse_ncu(raw.out);
        if (out.counters.empty()) out.trouble = "ncu counted nothing: " + raw.failure();
    }
    out.executed = explain::parse_ncu_source(page({"source", "--print-source", "sass"}).out);
    return out;
}

}  // namespace cllab::app
