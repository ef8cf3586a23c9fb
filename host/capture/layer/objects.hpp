// The program's OpenCL objects as the layer knows them: by handle, with reference counts of its own. A driver's answers
// differ (a set argument and a waiting launch count in some), and a handle's address is used again at once.
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
    std::string ending{};                          ///< of a file of it: ".cl", ".spv" or ".bin"; empty: it has none
    std::string bytes{};                           ///< of its text, SPIR-V or binary
    std::string options{};                         ///< of the last build
    std::map<std::string, std::string> headers{};  ///< that it was compiled with
    bool is_built = false;                         ///< it was made of the binary of a program with this text
    std::uint64_t hash = std::hash<std::string>{}(options + '\0' + bytes);
};

/// A buffer, an image, shared virtual memory, or a sampler.
struct Resource {
    cl_mem memory = nullptr;
    void* shared = nullptr;
    std::string sampler{};               ///< as kernel files have it
    std::shared_ptr<Resource> parent{};  ///< of a part
    std::size_t bytes = 0, origin = 0;
    std::optional<cl_image_format> format{};  ///< of an image
    Sizes sizes{};                            ///< of an image; the layers of an array are the last
    std::atomic<bool> released = false;       ///< its handle must not be used any more
};

/// As clSetKernelArg left it.
struct Argument {
    bool is_set = false;
    std::size_t size = 0;
    std::optional<std::string> value{};  ///< nothing: NULL
    std::shared_ptr<Resource> resource{};

    /// Of a buffer or image.
    bool is_null() const { return is_set && !resource && (!value || value->find_first_not_of('\0') == value->npos); }
};

/// The program sets its arguments in one thread at a time, as OpenCL demands.
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
void know(const void* handle, Object object);
/// Empty if the handle is unknown.
Object object_of(const void* handle);
/// Adds `more` (1 or -1) references; removes the object at 0.
void refer(const void* handle, int more);
/// Makes a record if the handle is unknown.
std::shared_ptr<Kernel> kernel_of(cl_kernel handle);

// Never destroyed: threads of the program may outlive main.
extern AskedFor& asked_for;
extern Board* board;
/// What the layer calls: the next layer's functions, or the driver's.
extern const Dispatch* next;
/// True in a forked process: it shares the board and has no driver state, so it records nothing.
extern std::atomic<bool> forked;

/// `cllab` prints the text once at the end.
void note(const std::string& text);
/// The counters of the row; makes them at the first call.
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

/// Of a function's result: the object that it made, or an error code.
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

// Launches that are kept. Their buffers are read before and after, on the program's own queue and without waiting: a
// launch may depend on a later call of the program.

/// Memory that a launch was given. One entry, even if several arguments are this memory or a part of it.
struct Held {
    std::shared_ptr<Resource> memory;
    std::string before{}, after{};
    // In the kernel file: of its first argument, and of its first one that may write. A buffer whose sub-buffers are
    // arguments has a name of its own.
    std::string name{}, written{};
};

/// A parameter by clGetKernelArgInfo.
struct ParameterInfo {
    std::string name, type;
    bool is_written = false, is_pointer = false;  ///< is_pointer: a buffer or image
};

struct Kept;

struct Launch {
    std::string kernel;
    std::shared_ptr<const Program> program;
    cl_command_queue queue = nullptr;
    Sizes global, local, offset;  ///< local: empty where the driver chooses
    // Of one that is kept:
    std::uint64_t index = 0;  ///< from 1
    std::vector<Argument> arguments{};
    std::vector<ParameterInfo> parameters{};
    std::vector<Held> held{};
    std::size_t bytes = 0;          ///< read before and after
    std::string missing{};          ///< why it cannot be kept
    Kept* kept = nullptr;           ///< the state of its kernel
    std::vector<cl_event> reads{};  ///< of its buffers and images; the launch waits for those before it
};

/// Returns whether to keep the launch; fills in its arguments then.
bool is_wanted(Launch& launch, cl_kernel handle, const Kernel& kernel, const Tally& row);
/// Enqueues reads that wait for the events of the list.
void read_all(Launch& launch, std::string Held::*when, cl_uint count, const cl_event* list);
/// Replaces the written launch of the kernel if this one changed a buffer and that one did not, or if it took longer.
/// All its reads are complete. `event`: nullptr if the launch failed.
void keep(Launch& launch, cl_event event);

/// In ns; 0 if the device does not tell.
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
