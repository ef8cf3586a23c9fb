// The OpenCL layer of `cllab capture`, loaded by the program's own OpenCL loader (OPENCL_LAYERS). It runs in another
// program's process. So it contains only a few files of core and model, and needs no libraries that are not linked into
// it. This file has the program's commands: each launch and copy with its time, which is read when the event is
// complete.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "capture/layer/objects.hpp"

namespace cllab::capture {

std::atomic<bool> forked = false;

namespace {

/// These tables may be larger or smaller than the loader's, whose size depends on its version.
Dispatch target{}, wrapped{};

/// A command with the layer's own reference to its event.
struct Command {
    cl_event event;
    cl_command_queue queue;
    Tally* tally;
    std::string name;
    std::shared_ptr<Launch> kept_launch{};
};

std::mutex mutex;
auto& waiting = *new std::vector<Command>;
auto& ends = *new std::map<cl_command_queue, std::uint64_t>;  ///< end time of the last command of each queue
std::FILE* timeline = nullptr;
std::atomic<bool> collecting = false;
std::atomic<unsigned> since_collected = 0;

void take_time(const Command& command) {
    const auto start = time_of(command.event, CL_PROFILING_COMMAND_START),
               end = time_of(command.event, CL_PROFILING_COMMAND_END),
               queued = time_of(command.event, CL_PROFILING_COMMAND_QUEUED);
    if (!asked_for.times || end == 0 || end < start) return;
    const auto take = [](Tally& tally, std::uint64_t ns) { ++tally.timed, tally.ns += ns; };
    take(*command.tally, end - start);
    auto& last = ends[command.queue];
    static auto& gaps = tally_of({{"what", "gap"}});
    if (last > 0 && queued > last) ++gaps.count, take(gaps, queued - last);
    last = std::max(last, end);
    if (timeline)
        std::fprintf(timeline,
                     R"({"name":"%s","ph":"X","ts":%.3f,"dur":%.3f,"pid":%d,"tid":"queue %p"})"
                     "\n",
                     command.name.c_str(), static_cast<double>(start) * 1e-3, static_cast<double>(end - start) * 1e-3,
                     ::getpid(), static_cast<void*>(command.queue));
}

/// Reads the times of completed commands and writes completed launches that are kept. Does not wait. Returns true while
/// commands are not complete.
bool collect() {
    if (forked || collecting.exchange(true)) return !forked;
    since_collected = 0;
    std::vector<Command> taken, left;
    {
        const std::lock_guard lock(mutex);
        taken.swap(waiting);
    }
    const auto is_over = [](cl_event event) { return status_of(event) <= CL_COMPLETE; };
    // No lock is held here: drivers run the program's callbacks on this thread.
    for (const auto& command : taken) {
        if (left.size() >= 64 || !is_over(command.event) ||
            (command.kept_launch && !std::ranges::all_of(command.kept_launch->reads, is_over))) {
            left.push_back(command);
            continue;
        }
        if (status_of(command.event) == CL_COMPLETE) take_time(command);
        if (command.kept_launch) keep(*command.kept_launch, command.event);
        next->clReleaseEvent(command.event);
    }
    const std::lock_guard lock(mutex);
    waiting.insert(waiting.begin(), left.begin(), left.end());
    collecting = false;
    return !waiting.empty();
}

/// `command.event` is nullptr for a command that failed.
void count(const Command& command, std::uint64_t bytes = 0) {
    command.tally->count += command.event != nullptr;
    command.tally->bytes += bytes;
    if (++since_collected > 256) collect();
    const std::lock_guard lock(mutex);
    waiting.push_back(command);
}

/// Creates queues with profiling, or as the program requests if the driver refuses that.
constexpr auto create_queue = [](auto call, const auto& of) {
    auto& properties = std::get<2>(of);  // bits or a list
    const auto asked = properties;
    std::vector<cl_queue_properties> more{CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE};
    bool has_times = false;
    if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(asked)>>) {
        for (const auto* at = asked; at && *at; at += 2) {
            if (at[0] != CL_QUEUE_PROPERTIES) more.insert(more.end(), {at[0], at[1]});
            if (at[0] == CL_QUEUE_PROPERTIES) more[1] |= at[1], has_times = at[1] & CL_QUEUE_PROFILING_ENABLE;
        }
        more.push_back(0);
        properties = more.data();
    } else {
        properties |= CL_QUEUE_PROFILING_ENABLE;
        has_times = properties == asked;
    }
    auto* const made = has_times ? nullptr : std::apply(call, of);
    if (made) ++tally_of({{"what", "profiled queue"}}).count;
    properties = asked;
    return made ? made : std::apply(call, of);
};

// Commands.

/// Makes a call whose argument `event` may be nullptr. If it succeeds, `own` gets a reference to its event.
template <class Call, class Of>
auto with_event(Call call, const Of& of, cl_event*& event, cl_event& own) {
    auto* const programs = event;
    if (!programs) event = &own;
    const auto result = std::apply(call, of);
    if (programs && succeeded(result)) next->clRetainEvent(own = *programs);
    return result;
}

Sizes sizes_of(cl_uint dimensions, const size_t* sizes) {
    return {sizes, sizes + (sizes ? std::min(dimensions, 3u) : 0)};
}

constexpr auto launch = [](auto call, const auto& of) {
    const auto& [queue, handle, dimensions, offset, global, local, waits, list, event] = of;
    if (forked) return std::apply(call, of);
    const auto kernel = kernel_of(handle);
    const auto seen = std::make_shared<Launch>(kernel->name, kernel->program, queue, sizes_of(dimensions, global),
                                               sizes_of(dimensions, local), sizes_of(dimensions, offset));
    const auto device = asked<&Dispatch::clGetCommandQueueInfo, cl_device_id>(queue, CL_QUEUE_DEVICE);
    auto& row = tally_of({{"kernel", kernel->name},
                          {"device", asked<&Dispatch::clGetDeviceInfo>(device, CL_DEVICE_NAME)},
                          {"program", kernel->program->hash},
                          {"global", seen->global},
                          {"local", seen->local}});
    const bool is_kept = is_wanted(*seen, handle, *kernel, row);
    if (is_kept) read_all(*seen, &Held::before, waits, list);
    if (!seen->reads.empty()) waits = static_cast<cl_uint>(seen->reads.size()), list = seen->reads.data();
    cl_event own = nullptr;
    const auto result = with_event(call, of, event, own);
    if (is_kept && own) {
        read_all(*seen, &Held::after, 1, &own);
        // Later commands of an out-of-order queue must not overwrite the buffers during the read. The barrier has an
        // event, because PoCL ends the program if a command without one fails by two events.
        cl_event barrier = nullptr;
        const auto reads = static_cast<cl_uint>(seen->reads.size());
        if (next->clEnqueueBarrierWithWaitList && reads > 0)
            next->clEnqueueBarrierWithWaitList(queue, reads, seen->reads.data(), &barrier);
        if (barrier) seen->reads.push_back(barrier);
    }
    if (is_kept || own) count({own, queue, &row, seen->kernel, is_kept ? seen : nullptr});
    return result;
};

constexpr auto launch_task = [](auto, const auto& of) {
    const auto& [queue, kernel, waits, list, event] = of;
    const size_t one = 1;
    return wrapped.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, &one, waits, list, event);
};

/// Bytes of a copy: its last size argument, or its region times the bytes of an image element.
constexpr auto bytes_of = [](auto... of) {
    std::uint64_t size = 0, region = 0, element = 1;
    const auto see = [&](auto one) {
        if constexpr (std::is_same_v<decltype(one), std::size_t>) size = one;
        if constexpr (std::is_same_v<decltype(one), const std::size_t*>) region = one[0] * one[1] * one[2];
        if constexpr (std::is_same_v<decltype(one), cl_mem>)
            element = std::max(element, asked<&Dispatch::clGetImageInfo, std::size_t>(one, CL_IMAGE_ELEMENT_SIZE));
    };
    (see(of), ...);
    return region ? region * element : size;
};

/// The queue is the first argument. The event is the last one, or the one before an error code.
template <const auto& what>
constexpr auto copied = [](auto call, const auto& of) {
    if (forked) return std::apply(call, of);
    using Of = std::remove_cvref_t<decltype(of)>;
    constexpr auto behind = std::is_pointer_v<decltype(std::apply(call, of))> ? 2 : 1;
    cl_event own = nullptr;
    const auto result = with_event(call, of, std::get<std::tuple_size_v<Of> - behind>(of), own);
    if (own) count({own, std::get<0>(of), &tally_of({{"what", what}}), what}, std::apply(bytes_of, of));
    if constexpr (std::is_same_v<std::tuple_element_t<2, Of>, cl_bool&>)
        if (std::get<2>(of)) collect();  // a blocking call
    return result;
};

constexpr char write[] = "write", read[] = "read", copy[] = "transfer", fill[] = "fill", map[] = "map";

constexpr auto note_wait = [](const auto&) { collect(); };

constexpr auto note_extension = [](const void*, const auto& of) {
    const std::string name = std::get<std::tuple_size_v<std::remove_cvref_t<decltype(of)>> - 1>(of);
    for (const auto* unseen : {"clSetKernelArgMemPointerINTEL", "clSetKernelArgDevicePointerEXT",
                               "clCreateCommandBufferKHR", "clEnqueueNDCountKernelINTEL"})
        if (name == unseen)
            note("the program asked for " + name + "; calls of it are not seen, because it is not in the OpenCL core");
};

}  // namespace

void collect_at_end() {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (collect() && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void wrap_launches(Dispatch& to) {
    using D = Dispatch;
    std::atexit(collect_at_end);
    ::pthread_atfork(nullptr, nullptr, [] { forked = true; });
    // Several processes may append to this file, so each line is one system call.
    if (!asked_for.timeline.empty()) timeline = std::fopen(asked_for.timeline.c_str(), "ae");
    if (timeline) std::setvbuf(timeline, nullptr, _IOLBF, BUFSIZ);
    if (asked_for.times) wrap<create_queue, &D::clCreateCommandQueue, &D::clCreateCommandQueueWithProperties>(to);
    wrap<launch, &D::clEnqueueNDRangeKernel>(to);
    wrap<launch_task, &D::clEnqueueTask>(to);
    wrap<noted<note_wait>, &D::clFinish, &D::clWaitForEvents>(to);
    wrap<noted<note_extension>, &D::clGetExtensionFunctionAddress, &D::clGetExtensionFunctionAddressForPlatform>(to);
    wrap<copied<map>, &D::clEnqueueMapBuffer, &D::clEnqueueMapImage>(to);
    wrap<copied<read>, &D::clEnqueueReadBuffer, &D::clEnqueueReadBufferRect, &D::clEnqueueReadImage>(to);
    wrap<copied<write>, &D::clEnqueueWriteBuffer, &D::clEnqueueWriteBufferRect, &D::clEnqueueWriteImage>(to);
    wrap<copied<copy>, &D::clEnqueueCopyBuffer, &D::clEnqueueCopyBufferRect, &D::clEnqueueCopyImage,
         &D::clEnqueueCopyImageToBuffer, &D::clEnqueueCopyBufferToImage, &D::clEnqueueSVMMemcpy>(to);
    wrap<copied<fill>, &D::clEnqueueFillBuffer, &D::clEnqueueFillImage, &D::clEnqueueSVMMemFill>(to);
}

}  // namespace cllab::capture

// The functions that a loader calls.
extern "C" {
#pragma GCC visibility push(default)

cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t room, void* to, size_t* needs) {
    static constexpr char name[] = "cllab capture";
    static constexpr cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    if (what != CL_LAYER_API_VERSION && what != CL_LAYER_NAME) return CL_INVALID_VALUE;
    const auto size = what == CL_LAYER_NAME ? sizeof name : sizeof version;
    if (to && room < size) return CL_INVALID_VALUE;
    if (to) std::memcpy(to, what == CL_LAYER_NAME ? static_cast<const void*>(name) : &version, size);
    if (needs) *needs = size;
    return CL_SUCCESS;
}

/// Called by ocl-icd.
cl_int CL_API_CALL clInitLayer(cl_uint count, const cl_icd_dispatch* loaders, cl_uint* own,
                               const cl_icd_dispatch** table) {
    using namespace cllab::capture;
    constexpr auto slots = static_cast<cl_uint>(sizeof(Dispatch) / sizeof(void*));
    std::memcpy(&target, loaders, std::min(count, slots) * sizeof(void*));
    next = &target;
    *table = &wrapped;  // empty entries: the loader uses those of the next layer
    *own = slots;
    const char* path = std::getenv("CLLAB_CAPTURE_BOARD");
    board = path ? map_board(path, false) : nullptr;
    const auto settings = board ? said_on(*board, "asked") : std::vector<Json>();
    if (settings.empty()) return CL_SUCCESS;
    asked_for = settings.front()["asked"].get<AskedFor>();
    ++board->processes;
    // The file that contains the loader's code.
    if (Dl_info info{}; ::dladdr(reinterpret_cast<void*>(target.clGetPlatformIDs), &info) && info.dli_fname)
        board->say({{"loader", info.dli_fname}});
    wrap_objects(wrapped);
    wrap_launches(wrapped);
    return CL_SUCCESS;
}

/// Called by Khronos' loader from 3.1 on. Debian's header does not declare these functions.
cl_int CL_API_CALL clInitLayerWithProperties(cl_uint count, const cl_icd_dispatch* loaders, cl_uint* own,
                                             const cl_icd_dispatch** table, const intptr_t*) {
    return clInitLayer(count, loaders, own, table);
}
cl_int CL_API_CALL clDeinitLayer(void) { return CL_SUCCESS; }

#pragma GCC visibility pop
}
