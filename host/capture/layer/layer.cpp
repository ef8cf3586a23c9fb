// The OpenCL layer of `cllab capture`, loaded by the program's own OpenCL loader (OPENCL_LAYERS). It lives in somebody
// else's process: of the program it has a few files of core and model, and no library that is not linked in. Here is
// what the program enqueues: each launch and copy with its time, which is asked for when the event is complete.
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

std::mutex mutex;
auto& waiting = *new std::vector<Command>;
auto& ends = *new std::map<cl_command_queue, std::uint64_t>;  ///< of the last command of each queue
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

// Queues are made with profiling, and as the program asks if the driver refuses that.

cl_command_queue with_times(cl_command_queue made) {
    if (made) ++tally_of({{"what", "queue made with profiling"}}).count;
    return made;
}

cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device, cl_command_queue_properties asked,
                                          cl_int* error) {
    auto* const create = next->clCreateCommandQueue;
    const auto more = asked | CL_QUEUE_PROFILING_ENABLE;
    auto* made = more == asked ? nullptr : with_times(create(context, device, more, error));
    return made ? made : create(context, device, asked, error);
}

cl_command_queue CL_API_CALL create_queue_with(cl_context context, cl_device_id device, const cl_queue_properties* list,
                                               cl_int* error) {
    auto* const create = next->clCreateCommandQueueWithProperties;
    std::vector<cl_queue_properties> more{CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE};
    bool has_times = false;
    for (const auto* at = list; at && *at; at += 2) {
        if (at[0] != CL_QUEUE_PROPERTIES) more.insert(more.end(), {at[0], at[1]});
        if (at[0] == CL_QUEUE_PROPERTIES) more[1] |= at[1], has_times = at[1] & CL_QUEUE_PROFILING_ENABLE;
    }
    more.push_back(0);
    auto* made = has_times ? nullptr : with_times(create(context, device, more.data(), error));
    return made ? made : create(context, device, list, error);
}

// Commands.

Sizes sizes_of(cl_uint dimensions, const size_t* sizes) {
    return {sizes, sizes + (sizes ? std::min(dimensions, 3u) : 0)};
}

cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel handle, cl_uint dimensions, const size_t* offset,
                          const size_t* global, const size_t* local, cl_uint waits, const cl_event* list,
                          cl_event* event) {
    if (forked)
        return next->clEnqueueNDRangeKernel(queue, handle, dimensions, offset, global, local, waits, list, event);
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
    const auto before = is_kept ? read_before(*seen, waits, list) : std::vector<cl_event>();
    if (!before.empty()) waits = static_cast<cl_uint>(before.size()), list = before.data();
    cl_event own = nullptr;
    const auto result = next->clEnqueueNDRangeKernel(queue, handle, dimensions, offset, global, local, waits, list,
                                                     event ? event : &own);
    if (event && result == CL_SUCCESS) next->clRetainEvent(own = *event);
    if (is_kept) read_after(seen, own);
    if (own) count({own, queue, &row, seen->kernel});
    return result;
}

cl_int CL_API_CALL launch_task(cl_command_queue queue, cl_kernel kernel, cl_uint waits, const cl_event* list,
                               cl_event* event) {
    const size_t one = 1;
    return launch(queue, kernel, 1, nullptr, &one, &one, waits, list, event);
}

constexpr char write[] = "write", read[] = "read", copy[] = "transfer", fill[] = "fill", map[] = "map";

constexpr auto note_wait = [](const auto&) { collect(); };

constexpr auto note_extension = [](const void*, const auto& of) {
    const std::string name = std::get<std::tuple_size_v<std::remove_cvref_t<decltype(of)>> - 1>(of);
    for (const auto* unseen : {"clSetKernelArgMemPointerINTEL", "clSetKernelArgDevicePointerEXT",
                               "clCreateCommandBufferKHR", "clEnqueueNDCountKernelINTEL"})
        if (name == unseen)
            note("the program asked for " + name + ", whose use is not seen: it is no call of the OpenCL core");
};

/// Their size may differ from the loader's table, which depends on its version.
Dispatch target{}, wrapped{};

constexpr auto slots = static_cast<cl_uint>(sizeof(Dispatch) / sizeof(void*));

cl_int begin(cl_uint count, const Dispatch* loaders, cl_uint* own, const Dispatch** table, const void* caller) {
    if (!loaders || !own || !table) return CL_INVALID_VALUE;
    std::memcpy(&target, loaders, std::min(count, slots) * sizeof(void*));
    next = &target;
    *table = &wrapped;  // what it leaves empty the loader takes from the next layer
    *own = slots;
    const char* path = std::getenv("CLLAB_CAPTURE_BOARD");
    board = path ? map_board(path, false) : nullptr;
    const auto settings = board ? said_on(*board, "asked") : std::vector<Json>();
    if (settings.empty()) return CL_SUCCESS;
    asked_for = settings.front().get<AskedFor>();
    ++board->processes;
    // The file that holds the caller's code.
    if (Dl_info info{}; ::dladdr(caller, &info) && info.dli_fname) board->say({{"loader", info.dli_fname}});
    wrap_objects(wrapped);
    wrap_launches(wrapped);
    return CL_SUCCESS;
}

}  // namespace

bool collect() {
    if (forked || collecting.exchange(true)) return !forked;
    since_collected = 0;
    std::vector<Command> taken, left;
    {
        const std::lock_guard lock(mutex);
        taken.swap(waiting);
    }
    // No lock is held here: drivers run the program's callbacks on this thread.
    for (const auto& command : taken) {
        const auto status = left.size() < 64 ? status_of(command.event) : CL_QUEUED;
        if (status == CL_COMPLETE) take_time(command);
        if (status <= CL_COMPLETE)
            next->clReleaseEvent(command.event);
        else
            left.push_back(command);
    }
    const bool writes = write_complete();
    const std::lock_guard lock(mutex);
    waiting.insert(waiting.begin(), left.begin(), left.end());
    collecting = false;
    return writes || !waiting.empty();
}

void collect_at_end() {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (collect() && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void count(const Command& command, std::uint64_t bytes) {
    ++command.tally->count;
    command.tally->bytes += bytes;
    {
        const std::lock_guard lock(mutex);
        waiting.push_back(command);
    }
    if (++since_collected > 256) collect();
}

cl_int status_of(cl_event event) {
    cl_int status = CL_SUCCESS;
    const auto result = next->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    return result == CL_SUCCESS ? status : result;
}

std::uint64_t time_of(cl_event event, cl_profiling_info which) {
    return asked<&Dispatch::clGetEventProfilingInfo, cl_ulong>(event, which);
}

void wrap_launches(Dispatch& to) {
    using D = Dispatch;
    std::atexit(collect_at_end);
    ::pthread_atfork(nullptr, nullptr, [] { forked = true; });
    // Each line is one call of the system: several processes may write there.
    if (!asked_for.timeline.empty()) timeline = std::fopen(asked_for.timeline.c_str(), "ae");
    if (timeline) std::setvbuf(timeline, nullptr, _IOLBF, BUFSIZ);
    if (asked_for.times) wrap<&D::clCreateCommandQueue>(to, create_queue);
    if (asked_for.times) wrap<&D::clCreateCommandQueueWithProperties>(to, create_queue_with);
    wrap<&D::clEnqueueNDRangeKernel>(to, launch);
    wrap<&D::clEnqueueTask>(to, launch_task);
    wrap_noted<note_wait, &D::clFinish, &D::clWaitForEvents>(to);
    wrap_noted<note_extension, &D::clGetExtensionFunctionAddress, &D::clGetExtensionFunctionAddressForPlatform>(to);
    wrap_copies<map, &D::clEnqueueMapBuffer, &D::clEnqueueMapImage>(to);
    wrap_copies<read, &D::clEnqueueReadBuffer, &D::clEnqueueReadBufferRect, &D::clEnqueueReadImage>(to);
    wrap_copies<write, &D::clEnqueueWriteBuffer, &D::clEnqueueWriteBufferRect, &D::clEnqueueWriteImage>(to);
    wrap_copies<copy, &D::clEnqueueCopyBuffer, &D::clEnqueueCopyBufferRect, &D::clEnqueueCopyImage,
                &D::clEnqueueCopyImageToBuffer, &D::clEnqueueCopyBufferToImage, &D::clEnqueueSVMMemcpy>(to);
    wrap_copies<fill, &D::clEnqueueFillBuffer, &D::clEnqueueFillImage, &D::clEnqueueSVMMemFill>(to);
}

}  // namespace cllab::capture

extern "C" {

#define CLLAB_EXPORT __attribute__((visibility("default")))

CLLAB_EXPORT cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t room, void* to, size_t* needs) {
    static constexpr char name[] = "cllab capture";
    static constexpr cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    if (what != CL_LAYER_API_VERSION && what != CL_LAYER_NAME) return CL_INVALID_VALUE;
    const auto size = what == CL_LAYER_NAME ? sizeof name : sizeof version;
    if (to && room < size) return CL_INVALID_VALUE;
    if (to) std::memcpy(to, what == CL_LAYER_NAME ? static_cast<const void*>(name) : &version, size);
    if (needs) *needs = size;
    return CL_SUCCESS;
}

/// ocl-icd calls this one,
CLLAB_EXPORT cl_int CL_API_CALL clInitLayer(cl_uint count, const cl_icd_dispatch* loaders, cl_uint* own,
                                            const cl_icd_dispatch** table) {
    return cllab::capture::begin(count, loaders, own, table, __builtin_return_address(0));
}

/// and Khronos' loader from 3.1 on these, which Debian's header does not declare.
CLLAB_EXPORT cl_int CL_API_CALL clInitLayerWithProperties(cl_uint count, const cl_icd_dispatch* loaders, cl_uint* own,
                                                          const cl_icd_dispatch** table, const intptr_t*) {
    return cllab::capture::begin(count, loaders, own, table, __builtin_return_address(0));
}
CLLAB_EXPORT cl_int CL_API_CALL clDeinitLayer(void) { return CL_SUCCESS; }
}
