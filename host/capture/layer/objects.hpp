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

/// What an argument's handle or pointer may be: a buffer, an image, shared virtual memory, or a sampler.
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

/// One of them is there.
struct Object {
    std::shared_ptr<const Program> program{};
    std::shared_ptr<Kernel> kernel{};
    std::shared_ptr<Resource> resource{};
    int references = 1;
};
/// The object of a handle, also in the place of another one.
void know(const void* handle, Object object);
/// Empty where the handle is not known.
Object object_of(const void* handle);
/// One reference more or less; the last one takes the object away.
void refer(const void* handle, int more);
/// Also of one that came from nowhere.
std::shared_ptr<Kernel> kernel_of(cl_kernel handle);

/// What `cllab capture` shall do.
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
/// A process that was forked has this one's board and nothing of its drivers: it records nothing.
extern std::atomic<bool> forked;

/// Told at the end, once for each text.
void note(const std::string& text);
/// Counts what the line says.
Tally& tally_of(const Json& row);
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

/// A command with the layer's own reference to its event.
struct Command {
    cl_event event;
    cl_command_queue queue;
    Tally* tally;
    std::string name;
};
void count(const Command& command, std::uint64_t bytes = 0);
/// Takes the times of what is complete by now, and writes the kept launches that are. Waits for nothing. True while
/// others are under way.
bool collect();
/// At the end of the program, when little can still be under way.
void collect_at_end();

/// Of a copy: its last size, or its last region times what an element of its image has.
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
    /// Of one that builds a program or a part of it; the options are the fourth argument.
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
    /// Of one that enqueues a copy: the queue comes first, the event last, but for a place for errors.
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
    /// The record goes before the driver's object, whose address may come back at once. The handle is the last one.
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

// Launches that are kept: what their arguments held before and after, read on the program's own queue without waiting,
// because a launch may depend on what the program does only afterwards.

/// Memory that a launch was given, once for all arguments that are it or a part of it.
struct Held {
    std::shared_ptr<Resource> memory;
    std::string before{}, after{};
};

/// What a kernel's text says of a parameter, as the driver tells it.
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
    std::size_t bytes = 0;  ///< of what is read
    std::string missing{};  ///< why it cannot be kept
    Kept* kept = nullptr;   ///< what is known of its kernel
    std::vector<cl_event> reads{};
    cl_event event = nullptr;
};

/// Whether the launch is one of those to be kept; then it has its arguments.
bool is_wanted(Launch& launch, cl_kernel handle, const Kernel& kernel, const Tally& row);
/// Begins to read, behind the events of the list; the launch is to wait for those that are returned.
std::vector<cl_event> read_before(Launch& launch, cl_uint count, const cl_event* list);
/// Behind the launch, whose event is nothing where it failed.
void read_after(const std::shared_ptr<Launch>& launch, cl_event event);
/// Writes those whose reads are complete. True while others are open.
bool write_complete();

/// 0 where the device does not say.
std::uint64_t time_of(cl_event event, cl_profiling_info which);
/// The status of what an event is about; negative: it failed, or cannot be asked.
cl_int status_of(cl_event event);

/// Writes `stem`.cl, or .spv or .bin with `stem`.cllab, into the folder that is asked for, the kernel file last.
/// Returns its name and those of its data files. Throws for what cannot be written; then nothing of it is left.
std::vector<std::string> write_kernel_file(const Launch& launch, const std::string& stem);
void remove_files(const std::vector<std::string>& names);

}  // namespace cllab::capture
