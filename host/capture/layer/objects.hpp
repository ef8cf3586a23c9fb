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
using Texts = std::map<std::string, std::string>;

struct Program {
    enum class Form { none, text, spirv, binary };
    Form form = Form::none;
    std::string bytes{};    ///< of its text, SPIR-V or binary
    std::string options{};  ///< of the last build
    Texts headers{};        ///< that it was compiled with
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

/// The options of `cllab capture`.
struct AskedFor {
    bool times = true;
    std::vector<std::string> kernels{};  ///< globs; none: no launch is kept
    std::uint64_t launch = 0;            ///< a number from 1; 0: the longest
    std::string folder{}, timeline{};    ///< of the kernel files; the file of the trace, or empty
    NLOHMANN_DEFINE_TYPE_INTRUSIVE(AskedFor, times, kernels, launch, folder, timeline)
};
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
    char text[4096] = "";
    Value out{};
    if constexpr (std::is_same_v<Value, std::string>)
        return (next->*slot)(of..., sizeof text - 1, text, nullptr) == CL_SUCCESS ? text : "";
    else if ((next->*slot)(of..., sizeof out, &out, nullptr) != CL_SUCCESS)
        out = {};
    return out;
}

// Put the layer's functions into the table, if `next` has the same function.
void wrap_objects(Dispatch& to);
void wrap_launches(Dispatch& to);

template <auto slot>
void wrap(Dispatch& to, decltype(std::declval<Dispatch>().*slot) function) {
    if (next->*slot) to.*slot = function;
}

/// A command with the layer's own reference to its event.
struct Command {
    cl_event event;
    cl_command_queue queue;
    Tally* tally;
    std::string name;
};
void count(const Command& command, std::uint64_t bytes = 0);
/// Reads the times of completed commands and writes the completed launches that are kept. Does not wait. Returns true
/// while other commands run.
bool collect();
/// Calls collect() at the end of the program until all is complete or a time limit is reached.
void collect_at_end();

/// Bytes of a copy: its last size argument, or its region times the bytes of an image element.
template <class... Of>
std::uint64_t bytes_of(Of... of) {
    std::uint64_t size = 0, region = 0, element = 0;
    const auto see = [&](auto one) {
        if constexpr (std::is_same_v<decltype(one), std::size_t>) size = one;
        if constexpr (std::is_same_v<decltype(one), const std::size_t*>) region = one[0] * one[1] * one[2];
        if constexpr (std::is_same_v<decltype(one), cl_mem>)
            element = std::max(element, asked<&Dispatch::clGetImageInfo, std::size_t>(one, CL_IMAGE_ELEMENT_SIZE));
    };
    (see(of), ...);
    return region ? region * std::max<std::uint64_t>(element, 1) : size;
}

/// Wrappers around a function of the table.
template <class Slot>
struct Calls;
template <class Result, class... Of>
struct Calls<Result (*Dispatch::*)(Of...)> {
    /// Calls `note` with the arguments of a call that succeeded, and with the object that it made.
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
    /// For functions that build or compile; the options are the fourth argument.
    template <auto slot, auto options_of>
    static Result CL_API_CALL built(Of... of) {
        const std::string options = options_of(std::tie(of...));
        std::get<3>(std::tie(of...)) = options.c_str();
        const auto begin = std::chrono::steady_clock::now();
        const auto result = (next->*slot)(of...);
        const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
        auto& builds = tally_of({{"what", "build"}});
        ++builds.count, ++builds.timed, builds.ns += static_cast<std::uint64_t>(took.count());
        return result;
    }
    /// For functions that enqueue a copy. The queue is the first argument, the event the last but for an error code.
    template <auto slot, const auto& what>
    static Result CL_API_CALL copied(Of... of) {
        if (forked) return (next->*slot)(of...);
        auto all = std::tie(of...);
        auto& event = std::get<sizeof...(Of) - (std::is_pointer_v<Result> ? 2 : 1)>(all);
        cl_event own = nullptr;
        auto* const programs = event;
        if (!programs) event = &own;
        const auto result = (next->*slot)(of...);
        if (std::is_pointer_v<Result> == (result == Result{})) return result;
        if (programs) next->clRetainEvent(own = *programs);
        count({own, std::get<0>(all), &tally_of({{"what", what}}), what}, bytes_of(of...));
        if constexpr (std::is_same_v<std::tuple_element_t<2, decltype(all)>, cl_bool&>)
            if (std::get<2>(all)) collect();  // it was waited for
        return result;
    }
    /// For retain and release. Updates the record first: a new object of the driver may get the same address at once.
    template <auto slot, int more>
    static Result CL_API_CALL referred(Of... of) {
        refer(std::get<sizeof...(Of) - 1>(std::tie(of...)), more);
        return (next->*slot)(of...);
    }
};

template <auto note, auto... slots>
void wrap_noted(Dispatch& to) {
    (wrap<slots>(to, Calls<decltype(slots)>::template noted<slots, note>), ...);
}
template <const auto& what, auto... slots>
void wrap_copies(Dispatch& to) {
    (wrap<slots>(to, Calls<decltype(slots)>::template copied<slots, what>), ...);
}
template <int more, auto... slots>
void wrap_referred(Dispatch& to) {
    (wrap<slots>(to, Calls<decltype(slots)>::template referred<slots, more>), ...);
}

// Launches that are kept. Their buffers are read before and after, on the program's own queue and without waiting: a
// launch may depend on a later call of the program.

/// Memory that a launch was given. One entry, even if several arguments are this memory or a part of it.
struct Held {
    std::shared_ptr<Resource> memory;
    std::string before{}, after{};
};

/// A parameter by clGetKernelArgInfo, or by the text where the driver has no information.
struct ParameterInfo {
    std::string name, type;
    bool is_read = true, is_written = false;
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
    std::size_t bytes = 0;  ///< read before and after
    std::string missing{};  ///< why it cannot be kept
    Kept* kept = nullptr;   ///< the state of its kernel
    std::vector<cl_event> reads{};
    cl_event event = nullptr;
};

/// Returns whether to keep the launch; fills in its arguments then.
bool is_wanted(Launch& launch, cl_kernel handle, const Kernel& kernel, const Tally& row);
/// Enqueues reads that wait for the events of the list. Returns the events that the launch must wait for.
std::vector<cl_event> read_before(Launch& launch, cl_uint count, const cl_event* list);
/// Enqueues reads that wait for the launch. `event`: nullptr if the launch failed.
void read_after(const std::shared_ptr<Launch>& launch, cl_event event);
/// Writes the launches whose reads are complete. Returns true while others are open.
bool write_complete();

/// In ns; 0 if the device does not tell.
std::uint64_t time_of(cl_event event, cl_profiling_info which);
/// The execution status of the command; negative: it failed, or the query did.
cl_int status_of(cl_event event);

/// Writes data files, and then `stem`.cl, or `stem`.spv or .bin with `stem`.cllab, into the folder of --output. Returns
/// the names, the kernel file first. Throws if a file cannot be written, and removes the files of this launch.
std::vector<std::string> write_kernel_file(const Launch& launch, const std::string& stem);
void remove_files(const std::vector<std::string>& names);

}  // namespace cllab::capture
