#include "capture/layer/snapshot.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "core/text.hpp"

namespace cllab::capture {
namespace {

constexpr std::size_t most_read = std::size_t{1} << 30;  ///< of one kernel; then only of sizes that are new
constexpr std::size_t most_open = std::size_t{1} << 29;  ///< of all launches that are being read
constexpr std::size_t most_sizes = 64;                   ///< of a kernel whose launches are read in any case

/// What is known of a kernel: one name in one program.
struct Kept {
    std::uint64_t launches = 0;
    std::size_t bytes = 0;  ///< that were read of all its launches
    std::set<const LaunchRow*> sizes;
    bool changed = false;
    std::uint64_t ns = 0;
    KeptRow* row = nullptr;
    std::vector<std::string> files;
};

std::mutex kept_mutex;
auto& all_kept = *new std::unordered_map<std::string, Kept>;
auto& open_ones = *new std::vector<std::unique_ptr<Snapshot>>;
std::atomic<std::size_t> open_bytes = 0;

bool is_asked_for(const std::string& kernel) {
    return std::ranges::any_of(split(settings.kernels, ','), [&](const auto& glob) {
        return ::fnmatch(glob.c_str(), kernel.c_str(), 0) == 0;
    });
}

/// Whether this launch may be the one. Which is the longest is known afterwards.
bool may_be_kept(Kept& kept, const LaunchRow* row) {
    if (settings.launch) return kept.launches == settings.launch;
    if (!settings.times && kept.changed) return false;
    const bool new_sizes = kept.sizes.insert(row).second && kept.sizes.size() < most_sizes;
    return new_sizes || kept.bytes < most_read;
}

/// "scale", and "scale-2" where another kernel of that name has a row before this one.
std::string stem_of(const KeptRow& row) {
    const auto others = std::count_if(std::as_const(board->kept).data(), &row, [&](const auto& one) {
        return one.kernel.get() == row.kernel.get();
    });
    return folder_name(row.kernel.get()) + (others ? "-" + std::to_string(others + 1) : "");
}

}  // namespace

std::unique_ptr<Snapshot> Snapshot::wanted(cl_kernel handle, Kernel& kernel, Launch launch, const LaunchRow* row,
                                           cl_command_queue queue) {
    if (settings.kernels.empty() || !is_asked_for(kernel.name)) return nullptr;
    auto out = std::make_unique<Snapshot>();
    out->key_ = kernel.name + '\0' + std::to_string(kernel.program->hash);
    out->launch_ = std::move(launch);
    out->queue_ = queue;
    {
        const std::lock_guard lock(kept_mutex);
        auto& kept = all_kept[out->key_];
        out->launch_.index = ++kept.launches;
        if (!may_be_kept(kept, row)) return nullptr;
    }
    out->take_arguments(handle, kernel);
    if (out->bytes_ > most_open) out->missing_ = "its buffers have more than 256 MiB";
    if (!out->missing_.empty()) note("a launch of " + kernel.name + " is not kept: " + out->missing_);
    if (!out->missing_.empty() || open_bytes + out->bytes_ > most_open) return nullptr;
    open_bytes += out->bytes_;
    const std::lock_guard lock(kept_mutex);
    all_kept[out->key_].bytes += out->bytes_ + 4096;  // those of launches without data end, too
    return out;
}

Snapshot::~Snapshot() {
    for (auto* event : reads_) next->clReleaseEvent(event);
    if (event_) next->clReleaseEvent(event_);
}

void Snapshot::take_arguments(cl_kernel handle, Kernel& kernel) {
    const auto count = asked<&Dispatch::clGetKernelInfo, cl_uint>(handle, CL_KERNEL_NUM_ARGS);
    {
        const std::lock_guard lock(kernel.mutex);
        launch_.arguments = kernel.arguments;
    }
    launch_.arguments.resize(count);
    for (cl_uint i = 0; i < count; ++i) {
        constexpr auto info = &Dispatch::clGetKernelArgInfo;
        auto name = asked<info>(handle, i, CL_KERNEL_ARG_NAME);
        if (name.starts_with("_cl_")) name = name.substr(4);  // PoCL's for names that C reserves
        if (name.empty()) name = "arg" + std::to_string(i);
        launch_.parameters.push_back(
            {name, asked<info>(handle, i, CL_KERNEL_ARG_TYPE_NAME),
             asked<info, cl_kernel_arg_address_qualifier>(handle, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER),
             asked<info, cl_kernel_arg_type_qualifier>(handle, i, CL_KERNEL_ARG_TYPE_QUALIFIER),
             asked<info, cl_kernel_arg_access_qualifier>(handle, i, CL_KERNEL_ARG_ACCESS_QUALIFIER)});
        const auto& argument = launch_.arguments[i];
        const auto named = "argument '" + name + "' ";
        if (!argument.is_set) missing_ = named + "was set in a way that the layer does not see";
        if (argument.is_pointer) missing_ = named + "is shared virtual memory";
        if (argument.is_set && !argument.is_pointer && !argument.value &&
            launch_.parameters[i].space == CL_KERNEL_ARG_ADDRESS_GLOBAL)
            missing_ = named + "is NULL, which a kernel file cannot say";
        if (!argument.memory) continue;
        // A part of a buffer is kept by its whole: parts overlap.
        const auto memory = argument.memory->parent ? argument.memory->parent : argument.memory;
        if (memory->released) missing_ = "the program has released what " + named + "is";
        if (std::ranges::count(launch_.held, memory, &Held::memory) > 0) continue;
        launch_.held.push_back({memory});
        bytes_ += 2 * memory->bytes;
    }
    if (launch_.program->form == Program::Form::none) missing_ = "its program is of no text, SPIR-V or binary: linked, or built in";
}

void Snapshot::read(std::string Held::*when, const std::vector<cl_event>& behind) {
    const auto count = static_cast<cl_uint>(behind.size());
    const auto* list = behind.empty() ? nullptr : behind.data();
    const std::size_t origin[3] = {0, 0, 0};
    for (auto& held : launch_.held) {
        auto& to = held.*when;
        auto region = held.memory->sizes;
        region.resize(3, 1);
        to.resize(held.memory->bytes);
        cl_event event = nullptr;
        const auto result = held.memory->is_image()
                                ? next->clEnqueueReadImage(queue_, held.memory->handle, CL_FALSE, origin, region.data(),
                                                           0, 0, to.data(), count, list, &event)
                                : next->clEnqueueReadBuffer(queue_, held.memory->handle, CL_FALSE, 0, to.size(),
                                                            to.data(), count, list, &event);
        if (result == CL_SUCCESS)
            reads_.push_back(event);
        else
            missing_ = "the driver lets nobody read a buffer of it (OpenCL error " + std::to_string(result) + ")";
    }
}

std::vector<cl_event> Snapshot::read_before(cl_uint count, const cl_event* list) {
    read(&Held::before, {list, list + count});
    return reads_;
}

void Snapshot::read_after(std::unique_ptr<Snapshot> snapshot, cl_event launch) {
    auto& own = *snapshot;
    if (launch) {
        next->clRetainEvent(launch);
        own.event_ = launch;
        own.read(&Held::after, {launch});
        // What the program enqueues next must not change what is being read, also on an out-of-order queue.
        if (next->clEnqueueBarrierWithWaitList && !own.reads_.empty())
            next->clEnqueueBarrierWithWaitList(own.queue_, static_cast<cl_uint>(own.reads_.size()), own.reads_.data(),
                                               nullptr);
    }
    const std::lock_guard lock(kept_mutex);
    open_ones.push_back(std::move(snapshot));
}

bool Snapshot::is_complete() const {
    const auto is_over = [](cl_event event) { return status_of(event) <= CL_COMPLETE; };
    return std::ranges::all_of(reads_, is_over) && (!event_ || is_over(event_));
}

bool Snapshot::write_complete() {
    std::vector<std::unique_ptr<Snapshot>> open;
    {
        const std::lock_guard lock(kept_mutex);
        open.swap(open_ones);
    }
    for (auto& snapshot : open) {
        if (!snapshot->is_complete()) continue;
        if (snapshot->event_) snapshot->write();
        open_bytes -= snapshot->bytes_;
        snapshot.reset();
    }
    std::erase(open, nullptr);
    const std::lock_guard lock(kept_mutex);
    std::ranges::move(open, std::back_inserter(open_ones));
    return !open_ones.empty();
}

/// Where it is better than what is kept of its kernel: one that changed something, then the longest.
void Snapshot::write() {
    if (status_of(event_) < 0) missing_ = "it failed";
    const auto start = time_of(event_, CL_PROFILING_COMMAND_START), end = time_of(event_, CL_PROFILING_COMMAND_END);
    const auto ns = settings.times && end > start ? end - start : 0;
    const bool changed =
        std::ranges::any_of(launch_.held, [](const auto& held) { return held.before != held.after; });
    const std::lock_guard lock(kept_mutex);
    auto& kept = all_kept[key_];
    if (!kept.files.empty() && std::pair(kept.changed, kept.ns) >= std::pair(changed, ns)) return;
    if (!kept.row && (kept.row = claim(board->kept_rows, board->kept))) kept.row->kernel.set(launch_.kernel);
    if (!kept.row) missing_ = "there are " + std::to_string(board->kept.size()) + " kernel files";
    std::vector<std::string> files;
    try {
        if (missing_.empty()) files = write_kernel_file(launch_, stem_of(*kept.row));
    } catch (const std::exception& error) {
        missing_ = error.what();
    }
    if (files.empty()) return note("a launch of " + launch_.kernel + " is not kept: " + missing_);
    if (!kept.files.empty()) remove_files({kept.files.begin() + 1, kept.files.end()});
    kept.files = std::move(files), kept.changed = changed, kept.ns = ns;
    auto& row = *kept.row;
    row.file.set(kept.files.front());
    row.launch = launch_.index, row.ns = ns, row.changed = changed;
    row.has_text = launch_.program->form != Program::Form::binary;
    row.written = true;
}

}  // namespace cllab::capture
