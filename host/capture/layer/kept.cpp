#include <cstdlib>
#include <set>

#include "capture/layer/objects.hpp"
#include "core/kernel_text.hpp"

namespace cllab::capture {

/// The state of one kernel name in one program.
struct Kept {
    std::uint64_t launches = 0;
    std::size_t bytes = 0;  ///< read for all its launches
    std::set<const Tally*> sizes{};
    std::pair<bool, std::uint64_t> best{};  ///< of the written launch: changed a buffer, time in ns
    std::vector<std::string> files{};
    std::string stem{};
};

namespace {

constexpr std::size_t most_read = std::size_t{1} << 30;  ///< of one kernel; then only of sizes that are new
constexpr std::size_t most_open = std::size_t{1} << 29;  ///< of all launches that are being read
constexpr std::size_t most_sizes = 64;                   ///< of a kernel whose launches are read in any case

std::mutex mutex;  ///< guards the three below
auto& all_kept = *new std::map<std::pair<std::string, std::uint64_t>, Kept>;
auto& open_ones = *new std::vector<std::shared_ptr<Launch>>;
std::size_t open_bytes = 0;

/// Whether to read this launch. The longest one is known only afterwards.
bool may_be_kept(Kept& kept, const Tally& row) {
    if (asked_for.launch) return kept.launches == asked_for.launch;
    if (!asked_for.times && kept.best.first) return false;
    const bool new_sizes = kept.sizes.insert(&row).second && kept.sizes.size() < most_sizes;
    return new_sizes || kept.bytes < most_read;
}

/// "scale", and "scale-2" where another kernel of that name has a file.
std::string stem_of(const std::string& kernel) {
    const auto others = std::ranges::count_if(said_on(*board, "file"),
                                              [&](const Json& file) { return file.value("kernel", "") == kernel; });
    return folder_name(kernel) + (others ? "-" + std::to_string(others + 1) : "");
}

void take(Launch& launch, const Argument& argument, const std::string& name) {
    if (!argument.is_set) launch.missing = "argument '" + name + "' was set in a way that the layer does not see";
    const auto& resource = argument.resource;
    if (!resource || !resource->sampler.empty()) return;
    // A part of a buffer is kept by its whole: parts overlap.
    const auto& whole = resource->parent ? resource->parent : resource;
    if (whole->released) launch.missing = "the program has released what argument '" + name + "' is";
    if (std::ranges::count(launch.held, whole, &Held::memory) > 0) return;
    launch.held.push_back({whole});
    launch.bytes += 2 * whole->bytes;
}

/// The parameter by the text, for drivers that return nothing: PoCL has no names for linked programs.
ParameterInfo written(const Launch& launch, std::size_t index) {
    const bool has_text = launch.program->form == Program::Form::text;
    for (const auto& kernel : kernels_in(has_text ? launch.program->bytes : "")) {
        if (kernel.name != launch.kernel || index >= kernel.parameters.size()) continue;
        auto text = kernel.parameters[index];
        const bool is_written = text.find("global") != text.npos && text.find("const") == text.npos;
        std::ranges::replace(text, '*', ' ');
        auto words = split(text, ' ');
        std::erase(words, "");
        if (words.size() > 1) return {words.back(), words[words.size() - 2], true, is_written};
    }
    return {"arg" + std::to_string(index), "", true, true};
}

void take_arguments(Launch& launch, cl_kernel handle, const Kernel& kernel) {
    constexpr auto info = &Dispatch::clGetKernelArgInfo;
    launch.arguments = kernel.arguments;
    launch.arguments.resize(asked<&Dispatch::clGetKernelInfo, cl_uint>(handle, CL_KERNEL_NUM_ARGS));
    for (cl_uint i = 0; i < launch.arguments.size(); ++i) {
        const auto& argument = launch.arguments[i];
        auto name = asked<info>(handle, i, CL_KERNEL_ARG_NAME);
        if (name.starts_with("_cl_")) name = name.substr(4);  // PoCL's for names that C reserves
        if (name.empty()) launch.parameters.push_back(written(launch, i));
        take(launch, argument, name.empty() ? launch.parameters.back().name : name);
        if (name.empty()) continue;
        const auto access = asked<info, cl_kernel_arg_access_qualifier>(handle, i, CL_KERNEL_ARG_ACCESS_QUALIFIER);
        const auto space = asked<info, cl_kernel_arg_address_qualifier>(handle, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER);
        const auto of_type = asked<info, cl_kernel_arg_type_qualifier>(handle, i, CL_KERNEL_ARG_TYPE_QUALIFIER);
        const bool is_global = space == CL_KERNEL_ARG_ADDRESS_GLOBAL;
        const bool is_image = argument.resource && argument.resource->format;
        if (is_global && !argument.value && !argument.resource)
            launch.missing = "argument '" + name + "' is NULL, which a kernel file cannot say";
        launch.parameters.push_back(
            {name, asked<info>(handle, i, CL_KERNEL_ARG_TYPE_NAME), access != CL_KERNEL_ARG_ACCESS_WRITE_ONLY,
             is_image ? access != CL_KERNEL_ARG_ACCESS_READ_ONLY : is_global && !(of_type & CL_KERNEL_ARG_TYPE_CONST)});
    }
    if (launch.program->form == Program::Form::none)
        launch.missing = "its program is of no text, SPIR-V or binary: linked of several, or built in";
}

cl_int read(cl_command_queue queue, const Resource& memory, std::string& to, cl_uint count, const cl_event* list,
            cl_event* event) {
    const std::size_t origin[3] = {0, 0, 0};
    auto region = memory.sizes;
    region.resize(3, 1);
    to.resize(memory.bytes);
    if (memory.format)
        return next->clEnqueueReadImage(queue, memory.memory, CL_FALSE, origin, region.data(), 0, 0, to.data(), count,
                                        list, event);
    if (memory.shared)
        return next->clEnqueueSVMMemcpy(queue, CL_FALSE, to.data(), memory.shared, to.size(), count, list, event);
    return next->clEnqueueReadBuffer(queue, memory.memory, CL_FALSE, 0, to.size(), to.data(), count, list, event);
}

void read_all(Launch& launch, std::string Held::*when, cl_uint count, const cl_event* list) {
    for (auto& held : launch.held) {
        cl_event event = nullptr;
        const auto result = read(launch.queue, *held.memory, held.*when, count, list, &event);
        if (result == CL_SUCCESS)
            launch.reads.push_back(event);
        else
            launch.missing = concat("the driver refuses to read one of its buffers (OpenCL error ", result, ")");
    }
}

/// Replaces the written launch of the kernel if this one changed a buffer and that one did not, or if it took longer.
void write(Launch& launch) {
    if (status_of(launch.event) < 0) launch.missing = "it failed";
    const auto start = time_of(launch.event, CL_PROFILING_COMMAND_START),
               end = time_of(launch.event, CL_PROFILING_COMMAND_END);
    const auto ns = asked_for.times && end > start ? end - start : 0;
    const bool changed = std::ranges::any_of(launch.held, [](const auto& held) { return held.before != held.after; });
    const std::lock_guard lock(mutex);
    auto& kept = *launch.kept;
    if (!kept.files.empty() && kept.best >= std::pair(changed, ns)) return;
    if (kept.stem.empty()) kept.stem = stem_of(launch.kernel);
    std::vector<std::string> files;
    try {
        if (launch.missing.empty()) files = write_kernel_file(launch, kept.stem);
    } catch (const std::exception& error) {
        launch.missing = error.what();
    }
    if (files.empty()) return note("a launch of " + launch.kernel + " is not kept: " + launch.missing);
    if (!kept.files.empty()) remove_files({kept.files.begin() + 1, kept.files.end()});
    kept.files = std::move(files), kept.best = {changed, ns};
    // Registered again: it must run before the destructors of the static objects that writing has made.
    std::atexit(collect_at_end);
    board->say({{"file", kept.files.front()},
                {"kernel", launch.kernel},
                {"launch", launch.index},
                {"seconds", static_cast<double>(ns) * 1e-9},
                {"changed", changed},
                {"has_text", launch.program->form != Program::Form::binary}});
}

}  // namespace

bool is_wanted(Launch& launch, cl_kernel handle, const Kernel& kernel, const Tally& row) {
    if (std::ranges::none_of(asked_for.kernels, [&](const auto& glob) { return glob_match(glob, launch.kernel); }))
        return false;
    {
        const std::lock_guard lock(mutex);
        launch.kept = &all_kept[{launch.kernel, launch.program->hash}];
        launch.index = ++launch.kept->launches;
        if (!may_be_kept(*launch.kept, row)) return false;
    }
    take_arguments(launch, handle, kernel);
    if (launch.bytes > most_open) launch.missing = "its buffers have more than 256 MiB";
    if (!launch.missing.empty()) note("a launch of " + launch.kernel + " is not kept: " + launch.missing);
    const std::lock_guard lock(mutex);
    if (!launch.missing.empty() || open_bytes + launch.bytes > most_open) return false;
    open_bytes += launch.bytes;
    launch.kept->bytes += launch.bytes + 4096;  // those of launches without data end, too
    return true;
}

std::vector<cl_event> read_before(Launch& launch, cl_uint count, const cl_event* list) {
    read_all(launch, &Held::before, count, list);
    return launch.reads;
}

void read_after(const std::shared_ptr<Launch>& launch, cl_event event) {
    if (event) {
        next->clRetainEvent(launch->event = event);
        read_all(*launch, &Held::after, 1, &event);
        // Later commands of an out-of-order queue must not overwrite the buffers during the read.
        if (next->clEnqueueBarrierWithWaitList && !launch->reads.empty())
            next->clEnqueueBarrierWithWaitList(launch->queue, static_cast<cl_uint>(launch->reads.size()),
                                               launch->reads.data(), nullptr);
    }
    const std::lock_guard lock(mutex);
    open_ones.push_back(launch);
}

bool write_complete() {
    std::vector<std::shared_ptr<Launch>> open;
    {
        const std::lock_guard lock(mutex);
        open.swap(open_ones);
    }
    const auto is_over = [](cl_event event) { return status_of(event) <= CL_COMPLETE; };
    const auto ended = std::ranges::partition(open, [&](const auto& launch) {
        return !std::ranges::all_of(launch->reads, is_over) || (launch->event && !is_over(launch->event));
    });
    for (const auto& launch : ended) {
        if (launch->event) write(*launch), next->clReleaseEvent(launch->event);
        for (auto* event : launch->reads) next->clReleaseEvent(event);
    }
    const std::lock_guard lock(mutex);
    for (const auto& launch : ended) open_bytes -= launch->bytes;
    open_ones.insert(open_ones.begin(), open.begin(), ended.begin());
    return !open_ones.empty();
}

}  // namespace cllab::capture
