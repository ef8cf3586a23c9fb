#include <cstdlib>

#include "capture/layer/objects.hpp"

namespace cllab::capture {

/// The state of one kernel name in one program.
struct Kept {
    std::uint64_t launches = 0;
    std::size_t bytes = 0;                  ///< bytes read for all its launches
    std::pair<bool, std::uint64_t> best{};  ///< of the written launch: whether it changed a buffer; time in ns
    std::vector<std::string> files{};
};

namespace {

constexpr std::size_t most_read = std::size_t{1} << 30;  ///< bytes read per kernel; then only launches of new sizes
constexpr std::size_t most_open = std::size_t{1} << 29;  ///< bytes of all launches that are being read

std::mutex mutex;  ///< guards the two below
auto& all_kept = *new std::map<std::pair<std::string, std::uint64_t>, Kept>;
std::size_t open_bytes = 0;

/// Whether to read this launch. The longest one is known only afterwards.
bool may_be_kept(Kept& state, const Tally& row) {
    if (asked_for.launch) return state.launches == asked_for.launch;
    return (asked_for.times || !state.best.first) && (row.count == 0 || state.bytes < most_read);
}

/// "scale", or "scale-2" if another kernel of that name has a file.
std::string stem_of(const std::string& kernel) {
    const auto others = std::ranges::count_if(said_on(*board, "file"),
                                              [&](const Json& file) { return file.value("kernel", "") == kernel; });
    return folder_name(kernel) + (others ? "-" + std::to_string(others + 1) : "");
}

void take(Launch& launch, Argument& argument, const ParameterInfo& parameter) {
    const auto named = "argument '" + parameter.name + "' ";
    auto& resource = argument.resource;
    // A number may equal the address of a resource.
    if (!parameter.is_pointer && !parameter.type.empty() && parameter.type != "sampler_t") resource = nullptr;
    if (parameter.is_pointer && !resource && !argument.is_null()) launch.missing = named + "is memory of an extension";
    if (!argument.is_set) launch.missing = named + "was set in a way that the layer does not see";
    if (!resource || !resource->sampler.empty()) return;
    // A part of a buffer is kept with the whole buffer, because parts may overlap.
    const auto& whole = resource->parent ? resource->parent : resource;
    if (whole->released) launch.missing = "the program has released what " + named + "is";
    if (std::ranges::count(launch.held, whole, &Held::memory) > 0) return;
    launch.held.push_back({whole});
    launch.bytes += 2 * whole->bytes;
}

/// If the driver has no names of parameters, uses their numbers. The same driver does so when the file is run.
ParameterInfo parameter_of(cl_kernel handle, cl_uint index) {
    constexpr auto info = &Dispatch::clGetKernelArgInfo;
    auto name = asked<info>(handle, index, CL_KERNEL_ARG_NAME);
    if (name.empty()) return {"arg" + std::to_string(index), "", true};
    if (name.starts_with("_cl_")) name = name.substr(4);  // PoCL's prefix for names that C reserves
    const auto access = asked<info, cl_kernel_arg_access_qualifier>(handle, index, CL_KERNEL_ARG_ACCESS_QUALIFIER);
    const auto space = asked<info, cl_kernel_arg_address_qualifier>(handle, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER);
    const auto of_type = asked<info, cl_kernel_arg_type_qualifier>(handle, index, CL_KERNEL_ARG_TYPE_QUALIFIER);
    const bool is_global = space == CL_KERNEL_ARG_ADDRESS_GLOBAL,
               is_image = access >= CL_KERNEL_ARG_ACCESS_READ_ONLY && access < CL_KERNEL_ARG_ACCESS_NONE;
    return {name, asked<info>(handle, index, CL_KERNEL_ARG_TYPE_NAME),
            is_image ? access != CL_KERNEL_ARG_ACCESS_READ_ONLY : is_global && !(of_type & CL_KERNEL_ARG_TYPE_CONST),
            is_image || is_global || space == CL_KERNEL_ARG_ADDRESS_CONSTANT};
}

}  // namespace

bool is_wanted(Launch& launch, cl_kernel handle, const Kernel& kernel, const Tally& row) {
    if (std::ranges::none_of(asked_for.kernels, [&](const auto& glob) { return glob_match(glob, launch.kernel); }))
        return false;
    {
        const std::lock_guard lock(mutex);
        launch.state = &all_kept[{launch.kernel, launch.program->hash}];
        launch.index = ++launch.state->launches;
        if (!may_be_kept(*launch.state, row)) return false;
    }
    launch.arguments = kernel.arguments;
    launch.arguments.resize(asked<&Dispatch::clGetKernelInfo, cl_uint>(handle, CL_KERNEL_NUM_ARGS));
    for (cl_uint i = 0; i < launch.arguments.size(); ++i) {
        launch.parameters.push_back(parameter_of(handle, i));
        take(launch, launch.arguments[i], launch.parameters.back());
    }
    if (launch.program->ending.empty())
        launch.missing = "its program is of no text, SPIR-V or binary: linked of several, or built in";
    if (launch.bytes > most_open) launch.missing = "its buffers have more than 256 MiB";
    if (!launch.missing.empty()) note("a launch of " + launch.kernel + " is not kept: " + launch.missing);
    const std::lock_guard lock(mutex);
    if (!launch.missing.empty() || open_bytes + launch.bytes > most_open) return false;
    open_bytes += launch.bytes;
    launch.state->bytes += launch.bytes + 4096;  // limits launches without data too
    return true;
}

void read_all(Launch& launch, std::string Held::*when, cl_uint count, const cl_event* list) {
    for (auto& held : launch.held) {
        const auto& memory = *held.memory;
        auto& to = held.*when;
        to.resize(memory.bytes);
        const std::size_t origin[3] = {0, 0, 0};
        auto region = memory.sizes;
        region.resize(3, 1);
        cl_event event = nullptr;
        const auto result = memory.format
                                ? next->clEnqueueReadImage(launch.queue, memory.memory, CL_FALSE, origin, region.data(),
                                                           0, 0, to.data(), count, list, &event)
                            : memory.shared ? next->clEnqueueSVMMemcpy(launch.queue, CL_FALSE, to.data(), memory.shared,
                                                                       to.size(), count, list, &event)
                                            : next->clEnqueueReadBuffer(launch.queue, memory.memory, CL_FALSE, 0,
                                                                        to.size(), to.data(), count, list, &event);
        if (result == CL_SUCCESS)
            launch.reads.push_back(event);
        else
            launch.missing = concat("the driver refuses to read one of its buffers (OpenCL error ", result, ")");
    }
}

void keep(Launch& launch, cl_event event) {
    if (!event || status_of(event) < 0) launch.missing = "it failed";
    const auto start = time_of(event, CL_PROFILING_COMMAND_START), end = time_of(event, CL_PROFILING_COMMAND_END);
    for (auto* read : launch.reads) next->clReleaseEvent(read);
    const auto ns = asked_for.times && end > start ? end - start : 0;
    const bool changed = std::ranges::any_of(launch.held, [](const auto& held) { return held.before != held.after; });
    const std::lock_guard lock(mutex);
    open_bytes -= launch.bytes;
    auto& state = *launch.state;
    if (!state.files.empty() && state.best >= std::pair(changed, ns)) return;
    const auto stem =
        state.files.empty() ? stem_of(launch.kernel) : std::filesystem::path(state.files.back()).stem().string();
    std::vector<std::string> files;
    try {
        if (launch.missing.empty()) write_kernel_file(launch, stem, files);
    } catch (const std::exception& error) {
        launch.missing = error.what();
    }
    if (!launch.missing.empty()) {
        remove_files(files);
        return note("a launch of " + launch.kernel + " is not kept: " + launch.missing);
    }
    if (!state.files.empty()) remove_files({state.files.begin(), state.files.end() - 1});
    state.files = std::move(files), state.best = {changed, ns};
    // Registered again, so that it runs before the destructors of static objects that writing has created.
    std::atexit(collect_at_end);
    board->say({{"file", state.files.back()},
                {"kernel", launch.kernel},
                {"launch", launch.index},
                {"seconds", static_cast<double>(ns) * 1e-9},
                {"changed", changed},
                {"has_text", launch.program->ending != ".bin"}});
}

}  // namespace cllab::capture
