#include "inspect/cuda/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <regex>

#include "core/embedded.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "inspect/binary/binary.hpp"
#include "inspect/cuda/ncu_counters.hpp"
#include "model/params.hpp"
#include "model/work.hpp"

namespace cllab::inspect {

namespace {

using namespace model;
namespace fs = std::filesystem;

// Whole sections, because the names of single counters change between architectures.
constexpr std::array sections{"SpeedOfLight",     "MemoryWorkloadAnalysis", "ComputeWorkloadAnalysis",
                              "InstructionStats", "WarpStateStats",         "Occupancy",
                              "LaunchStats"};
constexpr auto counters =
    "dram__bytes_read.sum,dram__bytes_write.sum,lts__t_bytes.sum,lts__t_sectors_op_read.sum,l1tex__t_bytes.sum,"
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum,gpu__time_duration.sum";
constexpr auto execution_metrics = "inst_executed,thread_inst_executed";

/// The PTX among the files of a dump.
std::optional<std::string> ptx_of(const fs::path& dump) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(dump, ignored)) {
        if (!entry.is_regular_file(ignored)) continue;
        auto content = read_file(entry.path());
        if (content && recognise(as_bytes(*content)) == Kind::ptx) return content;
    }
    return std::nullopt;
}

/// The command of the child process that runs the launch in `folder`: this program (app/program.cpp).
std::vector<std::string> launch_command(const fs::path& folder, unsigned timed) {
    return {fs::read_symlink("/proc/self/exe").string(), "cuda-launch", folder.string(), std::to_string(timed)};
}

/// Why ncu counted nothing, in one sentence; empty if it reports no such problem.
std::string trouble_in(const ToolResult& result) {
    const auto said = result.out + result.err;
    if (said.find("ERR_NVGPUCTRPERM") != std::string::npos)
        return "this user may not read the counters (ERR_NVGPUCTRPERM): an administrator allows it with the driver's "
               "option NVreg_RestrictProfilingToAdminUsers=0";
    if (const auto error = said.find("==ERROR=="); error != std::string::npos)
        return "ncu counted nothing: " + one_line(said.substr(error, said.find('\n', error) - error));
    return result.ok() ? std::string() : "ncu " + result.failure();
}

/// The launch of an operation with a single launch; nullopt for other operations.
std::optional<Launch> only_launch(const Setup& setup) {
    const auto steps = steps_of(setup);
    const auto* const step = steps.size() == 1 ? std::get_if<Launch>(&steps.front()) : nullptr;
    if (!step) return std::nullopt;
    auto out = *step;
    // If OpenCL's driver would choose the group size, CUDA needs one: the largest power of two up to 256 that makes
    // whole groups.
    if (out.local.dims > 0) return out;
    std::size_t items = 256;
    while (out.global.size[0] % items != 0) items /= 2;
    out.local = Extent(items);
    return out;
}

/// NVIDIA's OpenCL code reads environment registers that CUDA's driver does not set: 0 to 2 are the first group, 3 to 5
/// the NDRange's offset, 6 to 8 the number of groups (driver 580.159.04). This function replaces them by constants.
std::string with_environment(const std::string& ptx, const Extent& groups, const Extent& offset) {
    static const std::regex use("%envreg([0-9]+)");
    std::string out;
    auto from = ptx.begin();
    for (std::sregex_iterator i(ptx.begin(), ptx.end(), use), end; i != end; ++i) {
        const auto index = static_cast<std::size_t>(std::stoi((*i)[1]));
        if (index > 8) throw Unsupported("it reads %envreg" + (*i)[1].str() + ", which only OpenCL's driver sets");
        out.append(from, ptx.begin() + i->position());
        out += std::to_string(index < 3   ? 0
                              : index < 6 ? (offset.dims > index - 3 ? offset.size[index - 3] : 0)
                                          : groups.size[index - 6]);
        from = ptx.begin() + i->position() + i->length();
    }
    return out.append(from, ptx.end());
}

/// The arguments of the launch, in the kernel's order.
std::vector<const Argument*> arguments_of(const Setup& setup) {
    std::vector<const Argument*> out;
    const auto launch = only_launch(setup);
    const auto names = launch ? launch->args : std::vector<std::string>{};
    if (names.empty())
        for (const auto& argument : setup.args) out.push_back(&argument);
    for (const auto& name : names)
        for (const auto& argument : setup.args)
            if (name_of(argument) == name) out.push_back(&argument);
    return out;
}

std::string hex_of(const Bytes& bytes) {
    std::string out;
    for (const auto byte : bytes) out += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    return out;
}

/// The 32 hexadecimal digits of an identity such as "UUID GPU-0011…"; empty for any other identity.
std::string uuid_of(const std::string& identity) {
    if (!identity.starts_with("UUID ")) return {};
    std::string out;
    for (const char c : identity.substr(5))
        if (std::isxdigit(static_cast<unsigned char>(c)))
            out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out.size() == 32 ? out : std::string();
}

/// The text of cuda_launch.cpp with a main(), for users who want the program alone.
std::string cuda_launch_source() {
    return std::string(embedded("inspect/cuda/cuda_launch.cpp")) + R"(
#ifdef CUDA_LAUNCH_MAIN
#include <cstdio>

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: launch FOLDER   (the one with launch.txt)\n");
        return 2;
    }
    try {
        std::fputs(cuda_launch(argv[1], 25).c_str(), stdout);
        return 0;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "cuda-launch: %s\n", e.what());
        return 3;
    }
}
#endif
)";
}

}  // namespace

Replay replay_of(const model::Cell& cell, const model::Device& device, const model::Record& record,
                 std::uint64_t seed) {
    Replay out{model::set_up(*cell.experiment, {*cell.variant, cell.point, device, seed, model::no_files}), {}, {}};
    if (const auto reason = not_for_cuda(out.setup)) throw Unsupported(*reason);
    auto ptx = record.dump.empty() ? std::nullopt : ptx_of(record.dump);
    if (!ptx) throw Unsupported("its program binary is not PTX");
    out.ptx = std::move(*ptx);
    out.entry = only_launch(out.setup).value().entry;
    if (out.entry.empty()) out.entry = cell.experiment->entry(*cell.variant);
    return out;
}

ToolResult run_launch(const fs::path& folder, unsigned timed, std::chrono::milliseconds limit) {
    const auto command = launch_command(folder, timed);
    return run_tool(command.front(), {command.begin() + 1, command.end()}, limit);
}

ToolResult run_ncu(const fs::path& ncu, const Replay& replay, const fs::path& folder, std::vector<std::string> options,
                   std::chrono::milliseconds limit) {
    options.insert(options.begin(), {"--clock-control", "none", "--launch-count", "1", "--kernel-name", replay.entry});
    for (auto& word : launch_command(folder, 0)) options.push_back(std::move(word));
    auto result = run_tool(ncu, options, limit);
    if (const auto trouble = trouble_in(result); !trouble.empty() && result.ok()) result.status = 1;
    return result;
}

Profiled profile_replay(const fs::path& ncu, const Replay& replay, const fs::path& folder, Count what,
                        std::chrono::milliseconds limit) {
    Profiled out;
    // The counters and the executed instructions are two pages of one report.
    const auto report = folder / "counted.ncu-rep";
    std::vector<std::string> options{"--force-overwrite", "--export", report.string(), "--metrics", execution_metrics};
    if (what == Count::everything) {
        options.back() += std::string(",") + counters;
        for (const auto* section : sections) options.insert(options.end(), {"--section", section});
    }
    const auto counted = run_ncu(ncu, replay, folder, options, limit);
    out.trouble = trouble_in(counted);
    if (!out.trouble.empty()) return out;
    const auto page = [&](std::vector<std::string> how) {
        how.insert(how.begin(), {"--import", report.string(), "--csv", "--page"});
        return run_tool(ncu, how, limit);
    };
    if (what == Count::everything) {
        const auto raw = page({"raw", "--print-units", "base"});
        out.counters = parse_ncu(raw.out);
        if (out.counters.empty()) out.trouble = "ncu counted nothing: " + raw.failure();
    }
    out.executed = parse_ncu_source(page({"source", "--print-source", "sass"}).out);
    return out;
}

std::optional<std::string> not_for_cuda(const Setup& setup) {
    const auto launch = only_launch(setup);
    if (!launch) return "its operation is not a single kernel launch";
    if (setup.reference) return "its results are checked against those of another kernel";
    if (!setup.parts.empty()) return "one of its arguments is a part of a buffer";
    const auto arguments = arguments_of(setup);
    for (const auto* argument : arguments) {
        if (bytes_of(*argument) > 0 && std::ranges::count(arguments, argument) > 1)
            return "two of its arguments are the same buffer";
        if (std::holds_alternative<Image>(*argument) || std::holds_alternative<Sampler>(*argument))
            return "it takes an image";
        if (std::holds_alternative<Local>(*argument))
            return "it takes __local memory as an argument, whose address only the driver knows";
    }
    for (std::size_t d = 0; d < 3; ++d)
        if (launch->global.size[d] % launch->local.size[d] != 0)
            return "its last work-group is smaller than the others";
    return std::nullopt;
}

void write_cuda_launch(const std::filesystem::path& folder, const Setup& setup, const std::string& entry,
                       const std::string& ptx, const std::string& gpu, std::uint64_t seed) {
    const auto launch = only_launch(setup).value();
    const auto &global = launch.global, &local = launch.local;
    const Extent groups(global.size[0] / local.size[0], global.size[1] / local.size[1], global.size[2] / local.size[2]);
    write_file(folder / "kernel.ptx", as_bytes(with_environment(ptx.substr(0, ptx.find('\0')), groups, launch.offset)));
    write_file(folder / "launch.cpp", as_bytes(cuda_launch_source()));
    std::string text = "ptx kernel.ptx\nentry " + entry + "\n";
    if (const auto uuid = uuid_of(gpu); !uuid.empty()) text += "gpu " + uuid + "\n";
    text += fmt::format("grid {} {} {}\nblock {} {} {}\noperations {}\n", groups.size[0], groups.size[1],
                        groups.size[2], local.size[0], local.size[1], local.size[2], setup.verify_operations);
    const auto buffer = [&](const std::string& name, std::span<const std::byte> bytes, bool out) {
        write_file(folder / (name + ".bin"), bytes);
        text += fmt::format("buffer {}.bin {}{}\n", name, bytes.size(), out ? " out" : "");
    };
    const auto poisoned = [&](const std::string& name, std::size_t bytes, bool out) {
        Bytes content(bytes);
        poison(content, seed);
        buffer(name, content, out);
    };
    for (const auto* argument : arguments_of(setup)) {
        if (const auto* input = std::get_if<Input>(argument)) buffer(input->name, *input->data, false);
        if (const auto* both = std::get_if<InOut>(argument)) buffer(both->name, *both->data, true);
        if (const auto* output = std::get_if<Output>(argument)) poisoned(output->name, output->size_bytes, true);
        if (const auto* scratch = std::get_if<Scratch>(argument)) poisoned(scratch->name, scratch->size_bytes, false);
        if (const auto* scalar = std::get_if<Value>(argument)) {
            const bool trips = setup.slope && setup.slope->argument == scalar->name;
            text += "value " + hex_of(trips ? value("", setup.slope->high).data : scalar->data) + "\n";
        }
    }
    write_file(folder / "launch.txt", as_bytes(text));
}

std::optional<std::string> check_cuda_launch(const std::filesystem::path& folder, const Setup& setup,
                                             std::uint64_t seed) {
    std::map<std::string, std::string> contents;
    Buffers buffers;
    buffers.poison_seed = seed;
    buffers.operations = setup.verify_operations;
    if (setup.slope) buffers.trips = setup.slope->high;
    for (const auto* argument : arguments_of(setup)) {
        const auto* output = std::get_if<Output>(argument);
        const auto* both = std::get_if<InOut>(argument);
        if (!output && !both) continue;
        const auto& name = name_of(*argument);
        auto content = read_file(folder / (name + ".bin.out"));
        if (!content || content->size() != (output ? output->size_bytes : both->data.size()))
            return "the launch left no " + name;
        const auto& there = contents[name] = std::move(*content);
        buffers.data[name] = std::as_bytes(std::span(there.data(), there.size()));
    }
    return setup.check(buffers);
}

}  // namespace cllab::inspect
