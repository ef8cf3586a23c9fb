// The program's OpenCL objects, recorded by handle, with the layer's own reference counts. Drivers' counts differ (some
// count set arguments and waiting launches), and the address of a released handle may be reused at once.
#pragma once

#include <CL/cl.h>
#include <CL/cl_layer.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>

#include "capture/board.hpp"
#include "core/text.hpp"

namespace cllab::capture {

using Dispatch = _cl_icd_dispatch;
using Sizes = std::vector<std::size_t>;

struct Program {
    std::string ending{};                          ///< extension of its file: ".cl", ".spv" or ".bin"; empty: no file
    std::string bytes{};                           ///< text, SPIR-V or binary
    std::string options{};                         ///< options of the last build
    std::map<std::string, std::string> headers{};  ///< headers of its compilation, by name
    bool is_built = false;                         ///< made from a binary of the program with this text
    std::uint64_t hash = std::hash<std::string>{}(options + '\0' + bytes);
};

/// A buffer, an image, shared virtual memory, or a sampler.
struct Resource {
    cl_mem memory = nullptr;
    void* shared = nullptr;
    std::string sampler{};               ///< as in kernel files
    std::shared_ptr<Resource> parent{};  ///< the buffer or allocation that contains this part
    std::size_t bytes = 0, origin = 0;
    std::optional<cl_image_format> format{};  ///< only for an image
    Sizes sizes{};                            ///< only for an image; the layers of an array come last
    std::atomic<bool> released = false;       ///< its handle must not be used any more
};

/// The value that clSetKernelArg or clSetKernelArgSVMPointer has set.
struct Argument {
    bool is_set = false;
    std::size_t size = 0;
    std::optional<std::string> value{};  ///< nullopt: NULL
    std::shared_ptr<Resource> resource{};

    /// Whether a pointer argument is null.
    bool is_null() const { return is_set && !resource && (!value || value->find_first_not_of('\0') == value->npos); }
};

/// A program sets a kernel's arguments in one thread at a time, as OpenCL demands.
struct Kernel {
    std::string name;
    std::shared_ptr<const Program> program;
    std::vector<Argument> arguments{};
};

/// Exactly one of the three pointers is set.
struct Object {
    std::shared_ptr<const Program> program{};
    std::shared_ptr<Kernel> kernel{};
    std::shared_ptr<Resource> resource{};
    int references = 1;
};
/// Records the object of a handle; replaces an earlier one.
void remember(const void* handle, Object object);
/// Empty if the handle is unknown.
Object object_of(const void* handle);
/// Adds `more` (1 or -1) references; removes the object at 0.
void refer(const void* handle, int more);
/// Makes a record if the handle is unknown.
std::shared_ptr<Kernel> kernel_of(cl_kernel handle);

// Never destroyed: threads of the program may outlive main.
extern AskedFor& asked_for;
extern Board* board;
/// The functions that the layer calls: those of the next layer or of the driver.
extern const Dispatch* next;
/// True in a forked process: it shares the board and has no driver state, so it records nothing.
extern std::atomic<bool> forked;

/// Adds a note, which `cllab` prints once at the end.
void note(const std::string& text);
/// The counters of a row; created by the first call.
Tally& tally_of(const Json& row);
/// Calls one of the clGet...Info functions and returns its text or value; empty or zero if it fails.
template <auto slot, class Value = std::string, class... Of>
Value asked(Of... of) {
    std::conditional_t<std::is_same_v<Value, std::string>, char[4096], Value> out{};
    return (next->*slot)(of..., sizeof out, &out, nullptr) == CL_SUCCESS ? Value(out) : Value();
}

// Put the layer's functions into the table.
void wrap_objects(Dispatch& to);
void wrap_launches(Dispatch& to);

template <auto act, auto slot, class Result, class... Of>
void wrap_one(Dispatch& to, Result (*Dispatch::*)(Of...)) {
    if (next->*slot) to.*slot = [](Of... of) -> Result { return act(next->*slot, std::tie(of...)); };
}
/// Calls `act` in the place of these functions, with the next layer's function and references to the arguments.
template <auto act, auto... slots>
void wrap(Dispatch& to) {
    (wrap_one<act, slots>(to, slots), ...);
}

/// Whether a call succeeded. `result`: a created object, or an error code.
template <class Result>
bool succeeded(Result result) {
    return std::is_pointer_v<Result> != (result == Result{});
}
/// Calls `note` with the arguments of a call that succeeded, and with the object that it made.
template <auto note>
constexpr auto noted = [](auto call, const auto& of) {
    const auto result = std::apply(call, of);
    if (!succeeded(result)) return result;
    if constexpr (std::is_pointer_v<decltype(result)>)
        note(result, of);
    else
        note(of);
    return result;
};

/// Calls collect() at the end of the program until all is complete or a time limit is reached.
void collect_at_end();

// Launches that are kept. Their buffers are read before and after the launch, on the program's own queue. The layer
// does not wait for the reads, because a launch may depend on a later call of the program.

/// Memory that a launch uses. There is one entry, even if several arguments use it or parts of it.
struct Held {
    std::shared_ptr<Resource> memory;
    std::string before{}, after{};
    // Names in the kernel file: of its first argument, and of its first writable one. If parts of a buffer are
    // arguments, the whole buffer has its own name.
    std::string name{}, written{};
};

/// A parameter, according to clGetKernelArgInfo.
struct ParameterInfo {
    std::string name, type;
    bool is_written = false, is_pointer = false;  ///< is_pointer: a buffer or image
};

struct Kept;

struct Launch {
    std::string kernel;
    std::shared_ptr<const Program> program;
    cl_command_queue queue = nullptr;
    Sizes global, local, offset;  ///< `local` is empty if the driver chooses
    // For launches that are kept:
    std::uint64_t index = 0;  ///< from 1
    std::vector<Argument> arguments{};
    std::vector<ParameterInfo> parameters{};
    std::vector<Held> held{};
    std::size_t bytes = 0;          ///< bytes read before and after
    std::string missing{};          ///< why it cannot be kept
    Kept* state = nullptr;          ///< the state of its kernel
    std::vector<cl_event> reads{};  ///< events of the reads; the launch waits for those before it
};

/// Returns whether to keep the launch; if so, fills in its arguments.
bool is_wanted(Launch& launch, cl_kernel handle, const Kernel& kernel, const Tally& row);
/// Enqueues reads of all its memory that wait for the events in `list`.
void read_all(Launch& launch, std::string Held::*when, cl_uint count, const cl_event* list);
/// Writes the launch unless the kernel's written launch is better. A launch that changed a buffer is better than one
/// that did not; otherwise the longer one is better. Call this when all reads are complete. `event`: nullptr if it
/// failed.
void keep(Launch& launch, cl_event event);

/// In ns; 0 if the device does not report it.
constexpr auto time_of = asked<&Dispatch::clGetEventProfilingInfo, cl_ulong, cl_event, cl_profiling_info>;
/// The execution status of the command; negative: it failed.
inline cl_int status_of(cl_event event) {
    return asked<&Dispatch::clGetEventInfo, cl_int>(event, CL_EVENT_COMMAND_EXECUTION_STATUS);
}

/// Writes data files, and then `stem`.cl, or `stem`.spv or .bin with `stem`.cllab, into the folder of --output. Adds
/// the names to `files`, the kernel file last. Throws if a file cannot be written.
void write_kernel_file(Launch& launch, const std::string& stem, std::vector<std::string>& files);
void remove_files(const std::vector<std::string>& names);

}  // namespace cllab::capture
