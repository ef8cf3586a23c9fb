// What the program enqueues: each launch and copy with its time, which is asked for when the event is complete.
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "capture/layer/snapshot.hpp"

namespace cllab::capture {
namespace {

/// A process that was forked has this one's board and nothing of its drivers: it records nothing.
std::atomic<bool> forked = false;

struct Waiting {
    cl_event event;
    Tally* tally;
};

std::mutex mutex;
auto& waiting = *new std::vector<Waiting>;
/// By kernel, program, device and sizes.
auto& rows = *new std::map<std::tuple<std::string, std::uint64_t, cl_device_id, Sizes, Sizes>, LaunchRow*>;
std::atomic<bool> collecting = false;
std::atomic<unsigned> since_collected = 0;

void take_time(Tally& tally, cl_event event) {
    const auto start = time_of(event, CL_PROFILING_COMMAND_START), end = time_of(event, CL_PROFILING_COMMAND_END);
    if (settings.times && end > 0 && end >= start) ++tally.timed, tally.ns += end - start;
}

/// Takes the times of what is complete by now, and writes the kept launches that are. Waits for nothing. True while
/// others are under way.
bool collect() {
    if (forked || collecting.exchange(true)) return !forked;
    since_collected = 0;
    std::vector<Waiting> taken, left;
    {
        const std::lock_guard lock(mutex);
        taken.swap(waiting);
    }
    // No lock is held here: drivers run the program's callbacks on this thread.
    for (const auto& [event, tally] : taken) {
        const auto status = left.size() < 64 ? status_of(event) : CL_QUEUED;
        if (status > CL_COMPLETE) {
            left.push_back({event, tally});
            continue;
        }
        if (status == CL_COMPLETE) take_time(*tally, event);
        next->clReleaseEvent(event);
    }
    const bool writes = Snapshot::write_complete();
    const std::lock_guard lock(mutex);
    waiting.insert(waiting.begin(), left.begin(), left.end());
    collecting = false;
    return writes || !waiting.empty();
}

/// `event` is the layer's own reference.
void count(Tally& tally, cl_event event, std::uint64_t bytes = 0) {
    ++tally.count;
    tally.bytes += bytes;
    {
        const std::lock_guard lock(mutex);
        waiting.push_back({event, &tally});
    }
    if (++since_collected > 256) collect();
}

/// At the end of the program little can still be under way.
void collect_at_end() {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (collect() && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Queues.

/// `make` with times in its properties, and without where that fails.
template <class Make>
cl_command_queue make_queue(cl_command_queue_properties asked, cl_int* error, const Make& make) {
    cl_int own = CL_SUCCESS;
    const bool more = settings.times && !(asked & (CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_ON_DEVICE));
    auto handle = make(asked | (more ? CL_QUEUE_PROFILING_ENABLE : 0), &own);
    if (handle && more) ++board->queues_with_times_added;
    if (!handle && more) handle = make(asked, &own);
    if (error) *error = own;
    return handle;
}

cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                          cl_command_queue_properties properties, cl_int* error) {
    return make_queue(properties, error, [&](auto with, cl_int* result) {
        return next->clCreateCommandQueue(context, device, with, result);
    });
}

cl_command_queue CL_API_CALL create_queue_with(cl_context context, cl_device_id device, const cl_queue_properties* list,
                                               cl_int* error) {
    cl_command_queue_properties asked = 0;
    std::vector<cl_queue_properties> others;
    for (const auto* at = list; at && *at; at += 2) {
        if (at[0] == CL_QUEUE_PROPERTIES)
            asked = at[1];
        else
            others.insert(others.end(), {at[0], at[1]});
    }
    return make_queue(asked, error, [&](auto with, cl_int* result) {
        if (with == asked) return next->clCreateCommandQueueWithProperties(context, device, list, result);
        std::vector<cl_queue_properties> own{CL_QUEUE_PROPERTIES, with};
        own.insert(own.end(), others.begin(), others.end());
        own.push_back(0);
        return next->clCreateCommandQueueWithProperties(context, device, own.data(), result);
    });
}

// What is enqueued.

/// Nothing once the board has no place for others.
LaunchRow* row_of(const Kernel& kernel, const Launch& launch, cl_command_queue queue) {
    const auto device = asked<&Dispatch::clGetCommandQueueInfo, cl_device_id>(queue, CL_QUEUE_DEVICE);
    Sizes global{}, local{};
    std::ranges::copy(launch.global, global.begin());
    std::ranges::copy(launch.local, local.begin());
    const std::lock_guard lock(mutex);
    const auto [found, is_new] = rows.try_emplace({kernel.name, kernel.program->hash, device, global, local}, nullptr);
    if (!is_new) return found->second;
    auto* row = found->second = claim(board->launch_rows, board->launch);
    if (!row) {
        note("only launches of the first " + std::to_string(board->launch.size()) + " kernels and sizes are counted");
        return nullptr;
    }
    row->kernel.set(kernel.name);
    row->device.set(asked<&Dispatch::clGetDeviceInfo>(device, CL_DEVICE_NAME));
    row->program = kernel.program->hash;
    row->global = global, row->local = local;
    return row;
}

std::vector<std::size_t> sizes_of(cl_uint dimensions, const size_t* sizes) {
    return sizes ? std::vector<std::size_t>(sizes, sizes + std::min(dimensions, 3u)) : std::vector<std::size_t>();
}

cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel handle, cl_uint dimensions, const size_t* offset,
                          const size_t* global, const size_t* local, cl_uint waits, const cl_event* list,
                          cl_event* event) {
    if (forked)
        return next->clEnqueueNDRangeKernel(queue, handle, dimensions, offset, global, local, waits, list, event);
    const auto kernel = kernel_of(handle);
    const Launch sizes{kernel->name, kernel->program, sizes_of(dimensions, global), sizes_of(dimensions, local),
                       sizes_of(dimensions, offset)};
    auto* row = row_of(*kernel, sizes, queue);
    auto snapshot = row ? Snapshot::wanted(handle, *kernel, sizes, row, queue) : nullptr;
    std::vector<cl_event> before(list, list + waits);
    if (snapshot) before = snapshot->read_before(waits, list);
    if (before.empty()) before.assign(list, list + waits);
    cl_event own = nullptr;
    const auto result = next->clEnqueueNDRangeKernel(queue, handle, dimensions, offset, global, local,
                                                     static_cast<cl_uint>(before.size()),
                                                     before.empty() ? nullptr : before.data(), event ? event : &own);
    if (event && result == CL_SUCCESS) next->clRetainEvent(own = *event);
    if (snapshot) Snapshot::read_after(std::move(snapshot), own);
    if (own && row) count(row->launches, own);
    return result;
}

cl_int CL_API_CALL launch_task(cl_command_queue queue, cl_kernel kernel, cl_uint waits, const cl_event* list,
                               cl_event* event) {
    const size_t one = 1;
    return launch(queue, kernel, 1, nullptr, &one, &one, waits, list, event);
}

std::uint64_t product(const size_t* region) { return std::uint64_t{region[0]} * region[1] * region[2]; }

std::uint64_t pixels(cl_mem image, const size_t* region) {
    std::size_t element = 0;
    next->clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, nullptr);
    return product(region) * element;
}

/// Functions that enqueue a copy: the queue comes first, the wait list and the event last, but for a place for errors.
template <class Slot>
struct Copies;
template <class Result, class... Of>
struct Copies<Result (*Dispatch::*)(Of...)> {
    template <auto slot, Copy what, auto bytes>
    static Result CL_API_CALL call(Of... of) {
        if (forked) return (next->*slot)(of...);
        auto all = std::tie(of...);
        auto& event = std::get<sizeof...(Of) - (std::is_pointer_v<Result> ? 2 : 1)>(all);
        cl_event own = nullptr;
        auto* const programs = event;
        if (!programs) event = &own;
        const auto result = (next->*slot)(of...);
        if (std::is_pointer_v<Result> == (result == Result{})) return result;
        if (programs) next->clRetainEvent(own = *programs);
        count(board->copies[static_cast<std::size_t>(what)], own, bytes(all));
        if constexpr (std::is_same_v<std::tuple_element_t<2, decltype(all)>, cl_bool&>)
            if (std::get<2>(all)) collect();  // it was waited for
        return result;
    }
};

template <auto slot, Copy what, auto bytes>
void wrap_copy(Dispatch& to) {
    wrap<slot>(to, Copies<decltype(slot)>::template call<slot, what, bytes>);
}

template <std::size_t index>
constexpr auto size_at = [](const auto& all) { return std::uint64_t{std::get<index>(all)}; };
template <std::size_t index>
constexpr auto region_at = [](const auto& all) { return product(std::get<index>(all)); };
template <std::size_t image, std::size_t index>
constexpr auto pixels_at = [](const auto& all) { return pixels(std::get<image>(all), std::get<index>(all)); };

constexpr auto note_wait = [](const auto&) { collect(); };

constexpr auto note_extension = [](const void*, const auto& of) {
    const std::string name = std::get<std::tuple_size_v<std::remove_cvref_t<decltype(of)>> - 1>(of);
    for (const auto* unseen : {"clSetKernelArgMemPointerINTEL", "clSetKernelArgDevicePointerEXT",
                               "clCreateCommandBufferKHR", "clEnqueueNDCountKernelINTEL"})
        if (name == unseen)
            note("the program asked for " + name + ", whose use is not seen: it is no call of the OpenCL core");
};

}  // namespace

cl_int status_of(cl_event event) {
    cl_int status = CL_SUCCESS;
    const auto result = next->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    return result == CL_SUCCESS ? status : result;
}

std::uint64_t time_of(cl_event event, cl_profiling_info which) {
    return asked<&Dispatch::clGetEventProfilingInfo, cl_ulong>(event, which);
}

void wrap_launches(Dispatch& to) {
    std::atexit(collect_at_end);
    ::pthread_atfork(nullptr, nullptr, [] { forked = true; });
    wrap<&Dispatch::clCreateCommandQueue>(to, create_queue);
    wrap<&Dispatch::clCreateCommandQueueWithProperties>(to, create_queue_with);
    wrap<&Dispatch::clEnqueueNDRangeKernel>(to, launch);
    wrap<&Dispatch::clEnqueueTask>(to, launch_task);
    wrap_noted<&Dispatch::clFinish, note_wait>(to);
    wrap_noted<&Dispatch::clWaitForEvents, note_wait>(to);
    wrap_noted<&Dispatch::clGetExtensionFunctionAddress, note_extension>(to);
    wrap_noted<&Dispatch::clGetExtensionFunctionAddressForPlatform, note_extension>(to);
    wrap_copy<&Dispatch::clEnqueueMapBuffer, Copy::map, size_at<5>>(to);
    wrap_copy<&Dispatch::clEnqueueMapImage, Copy::map, pixels_at<1, 5>>(to);
    wrap_copy<&Dispatch::clEnqueueReadBuffer, Copy::read, size_at<4>>(to);
    wrap_copy<&Dispatch::clEnqueueWriteBuffer, Copy::write, size_at<4>>(to);
    wrap_copy<&Dispatch::clEnqueueCopyBuffer, Copy::copy, size_at<5>>(to);
    wrap_copy<&Dispatch::clEnqueueFillBuffer, Copy::fill, size_at<5>>(to);
    wrap_copy<&Dispatch::clEnqueueReadBufferRect, Copy::read, region_at<5>>(to);
    wrap_copy<&Dispatch::clEnqueueWriteBufferRect, Copy::write, region_at<5>>(to);
    wrap_copy<&Dispatch::clEnqueueCopyBufferRect, Copy::copy, region_at<5>>(to);
    wrap_copy<&Dispatch::clEnqueueReadImage, Copy::read, pixels_at<1, 4>>(to);
    wrap_copy<&Dispatch::clEnqueueWriteImage, Copy::write, pixels_at<1, 4>>(to);
    wrap_copy<&Dispatch::clEnqueueCopyImage, Copy::copy, pixels_at<1, 5>>(to);
    wrap_copy<&Dispatch::clEnqueueCopyImageToBuffer, Copy::copy, pixels_at<1, 4>>(to);
    wrap_copy<&Dispatch::clEnqueueCopyBufferToImage, Copy::copy, pixels_at<2, 5>>(to);
    wrap_copy<&Dispatch::clEnqueueFillImage, Copy::fill, pixels_at<1, 4>>(to);
    wrap_copy<&Dispatch::clEnqueueSVMMemcpy, Copy::copy, size_at<4>>(to);
    wrap_copy<&Dispatch::clEnqueueSVMMemFill, Copy::fill, size_at<4>>(to);
}

}  // namespace cllab::capture
