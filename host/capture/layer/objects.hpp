// The program's OpenCL objects as the layer knows them: by handle, with reference counts of its own. A driver's answers
// differ (a set argument and a waiting launch count in some), and a handle's address is used again at once.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_layer.h>

#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "capture/board.hpp"

namespace cllab::capture {

using Dispatch = _cl_icd_dispatch;

struct Program {
    enum class Form { none, text, spirv, binary };
    Form form = Form::none;
    std::string bytes{};    ///< of its text, SPIR-V or binary
    std::string options{};  ///< of the last build
    std::uint64_t hash = 0;
};

struct Memory {
    cl_mem handle = nullptr;
    cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
    std::size_t bytes = 0;
    std::shared_ptr<Memory> parent{};  ///< of a sub-buffer
    std::size_t origin = 0;
    cl_image_format format{};
    std::vector<std::size_t> sizes{};  ///< of an image; the layers of an array are the last
    std::atomic<bool> released = false;  ///< its handle must not be used any more

    bool is_image() const { return type != CL_MEM_OBJECT_BUFFER; }
};

struct Sampler {
    cl_bool normalized = CL_TRUE;
    cl_addressing_mode addressing = CL_ADDRESS_CLAMP;
    cl_filter_mode filter = CL_FILTER_NEAREST;
};

/// As clSetKernelArg left it.
struct Argument {
    bool is_set = false, is_pointer = false;  ///< pointer: to shared virtual memory
    std::size_t size = 0;
    std::optional<std::string> value{};  ///< nothing: NULL
    std::shared_ptr<Memory> memory{};
    std::shared_ptr<Sampler> sampler{};
};

struct Kernel {
    std::string name;
    std::shared_ptr<const Program> program;
    std::vector<Argument> arguments{};
    std::mutex mutex{};  ///< of `arguments`
};

/// Records by handle.
template <class Record>
class Table {
public:
    void add(const void* handle, std::shared_ptr<Record> record) {
        const std::lock_guard lock(mutex_);
        held_[handle] = {std::move(record), 1};
    }
    /// Another record for a handle that is known.
    void replace(const void* handle, std::shared_ptr<Record> record) {
        const std::lock_guard lock(mutex_);
        if (const auto found = held_.find(handle); found != held_.end()) found->second.first = std::move(record);
    }
    std::shared_ptr<Record> find(const void* handle) const {
        const std::lock_guard lock(mutex_);
        const auto found = held_.find(handle);
        return found == held_.end() ? nullptr : found->second.first;
    }
    /// One reference more or less; the last one takes the record away.
    void refer(const void* handle, int more) {
        const std::lock_guard lock(mutex_);
        const auto found = held_.find(handle);
        if (found == held_.end() || (found->second.second += more) > 0) return;
        if constexpr (requires(Record & record) { record.released = true; }) found->second.first->released = true;
        held_.erase(found);
    }

private:
    mutable std::mutex mutex_;
    std::unordered_map<const void*, std::pair<std::shared_ptr<Record>, int>> held_;
};

struct Objects {
    Table<Program> programs;
    Table<Memory> memory;
    Table<Sampler> samplers;
    Table<Kernel> kernels;
};

/// Of the environment.
struct Settings {
    bool times = true;
    std::string kernels;       ///< globs with commas between; empty: no launch is kept
    std::uint64_t launch = 0;  ///< a number from 1; 0: the longest
    std::string folder;        ///< of the kernel files
};

// Never destroyed: threads of the program may outlive main.
extern Objects& objects;
extern Settings& settings;
extern Board* board;
/// What the layer calls: the next layer's functions, or the driver's.
extern const Dispatch* next;

/// Told at the end, once for each text.
void note(const std::string& text);
/// The record of a kernel's handle, also of one that came from nowhere.
std::shared_ptr<Kernel> kernel_of(cl_kernel handle);
/// What one of the clGet...Info functions tells; text or a value.
template <auto slot, class Value = std::string, class... Of>
Value asked(Of... of) {
    char text[4096] = "";
    Value out{};
    if constexpr (std::is_same_v<Value, std::string>)
        return (next->*slot)(of..., sizeof text - 1, text, nullptr) == CL_SUCCESS ? text : "";
    else if ((next->*slot)(of..., sizeof out, &out, nullptr) != CL_SUCCESS)
        out = {};
    return out;
}

// Functions of the layer's table, put there where `next` has them.
void wrap_objects(Dispatch& to);
void wrap_launches(Dispatch& to);

template <auto slot>
void wrap(Dispatch& to, decltype(std::declval<Dispatch>().*slot) function) {
    if (next->*slot) to.*slot = function;
}

/// Made of the function that they stand before and of what is to be noted of a call.
template <class Slot>
struct Calls;
template <class Result, class... Of>
struct Calls<Result (*Dispatch::*)(Of...)> {
    /// `note` gets the arguments of a call that succeeded, and what it made, if anything.
    template <auto slot, auto note>
    static Result CL_API_CALL noted(Of... of) {
        const auto result = (next->*slot)(of...);
        if constexpr (std::is_pointer_v<Result>) {
            if (result) note(result, std::tie(of...));
        } else if (result == CL_SUCCESS) {
            note(std::tie(of...));
        }
        return result;
    }
    /// A record goes before the driver's object, whose address may come back at once.
    template <auto slot, auto table, int more>
    static Result CL_API_CALL referred(Of... of) {
        ((objects.*table).refer(of, more), ...);
        return (next->*slot)(of...);
    }
};

template <auto slot, auto note>
void wrap_noted(Dispatch& to) {
    wrap<slot>(to, Calls<decltype(slot)>::template noted<slot, note>);
}
template <auto retain, auto release, auto table>
void wrap_references(Dispatch& to) {
    wrap<retain>(to, Calls<decltype(retain)>::template referred<retain, table, 1>);
    wrap<release>(to, Calls<decltype(release)>::template referred<release, table, -1>);
}

}  // namespace cllab::capture
