#include "capture/layer/objects.hpp"

#include <set>

namespace cllab::capture {

AskedFor& asked_for = *new AskedFor;
Board* board = nullptr;
const Dispatch* next = nullptr;

namespace {

std::mutex mutex;  ///< guards the objects below
auto& objects = *new std::map<const void*, Object>;
auto& told = *new std::set<std::string>;
auto& tallies = *new std::map<std::string, Tally*>;
auto& compiled = *new std::map<std::string, Program>;  ///< by binary

/// The last object that begins at or before the pointer, with its address.
std::pair<const void*, Object> object_around(const void* pointer) {
    const std::lock_guard lock(mutex);
    const auto behind = objects.upper_bound(pointer);
    if (behind == objects.begin()) return {};
    return *std::prev(behind);
}

}  // namespace

void remember(const void* handle, Object object) {
    const std::lock_guard lock(mutex);
    objects[handle] = std::move(object);
}

Object object_of(const void* handle) {
    const auto [begin, object] = object_around(handle);
    return begin == handle ? object : Object{};
}

void refer(const void* handle, int more) {
    const std::lock_guard lock(mutex);
    const auto found = objects.find(handle);
    if (found == objects.end() || (found->second.references += more) > 0) return;
    if (found->second.resource) found->second.resource->released = true;
    objects.erase(found);
}

void note(const std::string& text) {
    const std::lock_guard lock(mutex);
    if (told.size() < 1000 && told.insert(text).second) board->say({{"note", text}});
}

Tally& tally_of(const Json& row) {
    const std::lock_guard lock(mutex);
    auto& found = tallies[text_of(row)];
    if (found) return *found;
    const auto index = std::min<std::size_t>(board->rows++, board->tallies.size() - 1);
    Json line{{"row", index}};
    // The last tally counts everything that finds no free one.
    line.update(index + 1 < board->tallies.size() ? row : Json{{"what", "launch of other kernels and sizes"}});
    board->say(line);
    return *(found = &board->tallies[index]);
}

namespace {

// Programs.

void remember_program(cl_program handle, Program program) {
    auto object = object_of(handle);  // keeps the references if the program is built again
    object.program = std::make_shared<const Program>(std::move(program));
    remember(handle, object);
}

constexpr auto note_source = [](cl_program handle, const auto& of) {
    const auto& [context, count, strings, lengths, error] = of;
    std::string text;
    for (cl_uint i = 0; i < count; ++i)
        text.append(strings[i], ::strnlen(strings[i], lengths && lengths[i] ? lengths[i] : SIZE_MAX));
    remember_program(handle, {".cl", text});
};

constexpr auto note_il = [](cl_program handle, const auto& of) {
    const auto& [context, il, length, error] = of;
    remember_program(handle, {".spv", {static_cast<const char*>(il), length}});
};

/// A binary of a program that this process compiled has that program's text.
constexpr auto note_binary = [](cl_program handle, const auto& of) {
    const auto& [context, count, devices, lengths, binaries, status, error] = of;
    Program program{".bin", {reinterpret_cast<const char*>(binaries[0]), lengths[0]}};
    std::unique_lock lock(mutex);
    if (const auto known = compiled.find(program.bytes); known != compiled.end()) program = known->second;
    lock.unlock();
    remember_program(handle, program);
};

/// Records the binary of a program for its first device.
constexpr auto note_info = [](const auto& of) {
    const auto& [handle, what, room, to, needs] = of;
    const auto program = object_of(handle).program;
    if (what != CL_PROGRAM_BINARIES || !to || !*static_cast<char**>(to) || !program) return;
    const auto size = asked<&Dispatch::clGetProgramInfo, std::size_t>(handle, CL_PROGRAM_BINARY_SIZES);
    const std::lock_guard lock(mutex);
    compiled.emplace(std::string(*static_cast<char**>(to), size), *program).first->second.is_built = true;
};

/// A linked program has the texts of its inputs, one after another.
constexpr auto note_link = [](cl_program handle, const auto& of) {
    const auto& [context, devices, list, options, count, inputs, notify, data, error] = of;
    Program linked;
    for (cl_uint i = 0; i < count; ++i) {
        const auto input = object_of(inputs[i]).program;
        if (!input || (input->ending != ".cl" && count > 1)) return;
        linked.ending = input->ending;
        linked.bytes += input->bytes + (count > 1 ? "\n" : "");
        linked.options = input->options;
        linked.headers.insert(input->headers.begin(), input->headers.end());
    }
    remember_program(handle, {linked.ending, linked.bytes, linked.options, linked.headers});
};

/// A build, a compilation or a link. Its options are the fourth argument.
constexpr auto build = [](auto call, const auto& of) {
    constexpr bool links = std::is_same_v<decltype(std::apply(call, of)), cl_program>;
    auto& options = std::get<3>(of);
    const auto* const asked = options;
    std::map<std::string, std::string> headers;
    if constexpr (!links && std::tuple_size_v<std::remove_cvref_t<decltype(of)>> == 9)  // a compilation
        for (cl_uint i = 0; i < std::get<4>(of); ++i)
            if (const auto header = object_of(std::get<5>(of)[i]).program) headers[std::get<6>(of)[i]] = header->bytes;
    // Kernels of an earlier build keep its record.
    if constexpr (!links)
        if (const auto program = object_of(std::get<0>(of)).program; program && !program->is_built)
            remember_program(std::get<0>(of), {program->ending, program->bytes, asked ? asked : "", headers});
    // Keeping launches requires the names of parameters.
    const auto more = concat(asked ? asked : "", asked_for.kernels.empty() ? "" : " -cl-kernel-arg-info");
    options = more.c_str();
    const auto begin = std::chrono::steady_clock::now();
    auto result = std::apply(call, of);
    options = asked;
    if (links && !succeeded(result)) result = std::apply(call, of);  // Intel's linker refuses the option
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
    auto& builds = tally_of({{"what", "build"}});
    ++builds.count, ++builds.timed, builds.ns += static_cast<std::uint64_t>(took.count());
    if constexpr (links)
        if (result) note_link(result, of);
    return result;
};

// Kernels.

void know_kernel(cl_kernel handle, cl_program program) {
    auto known = object_of(program).program;
    const auto name = asked<&Dispatch::clGetKernelInfo>(handle, CL_KERNEL_FUNCTION_NAME);
    remember(handle, {.kernel = std::make_shared<Kernel>(name, known ? known : std::make_shared<const Program>())});
}

constexpr auto note_kernel = [](cl_kernel handle, const auto& of) { know_kernel(handle, std::get<0>(of)); };

constexpr auto note_kernels = [](const auto& of) {
    const auto& [program, room, kernels, given] = of;
    const auto count = asked<&Dispatch::clGetProgramInfo, std::size_t>(program, CL_PROGRAM_NUM_KERNELS);
    for (std::size_t i = 0; kernels && i < count && i < room; ++i) know_kernel(kernels[i], program);
};

constexpr auto note_clone = [](cl_kernel copy, const auto& of) {
    remember(copy, {.kernel = std::make_shared<Kernel>(*kernel_of(std::get<0>(of)))});
};

/// Records an argument that the driver accepted. If it refuses one, the earlier value stays.
void set(cl_kernel handle, cl_uint index, Argument argument) {
    auto& arguments = kernel_of(handle)->arguments;
    if (arguments.size() <= index) arguments.resize(index + 1);
    arguments[index] = std::move(argument);
}

constexpr auto note_argument = [](const auto& of) {
    const auto& [handle, index, size, value] = of;
    Argument argument{.is_set = true, .size = size};
    const void* pointer = nullptr;
    if (value) argument.value.emplace(static_cast<const char*>(value), size);
    if (value && size == sizeof pointer) std::memcpy(&pointer, value, size);
    argument.resource = object_of(pointer).resource;
    set(handle, index, std::move(argument));
};

/// A pointer into an allocation is a part of it.
constexpr auto note_pointer = [](const auto& of) {
    const auto& [handle, index, pointer] = of;
    const auto [begin, object] = object_around(pointer);
    const auto& whole = object.resource;
    const auto origin = static_cast<std::size_t>(static_cast<const char*>(pointer) - static_cast<const char*>(begin));
    Argument argument{.is_set = !pointer || (whole && whole->shared && origin < whole->bytes), .resource = whole};
    if (argument.is_set && origin > 0)
        argument.resource = std::make_shared<Resource>(nullptr, nullptr, "", whole, whole->bytes - origin, origin);
    set(handle, index, std::move(argument));
};

/// For retain and release. Updates the record first: the driver may reuse the address for a new object at once.
template <int more>
constexpr auto referred = [](auto call, const auto& of) {
    refer(std::get<std::tuple_size_v<std::remove_cvref_t<decltype(of)>> - 1>(of), more);
    return std::apply(call, of);
};

// Memory and samplers, as the driver describes them after their creation.

constexpr auto note_memory = [](cl_mem handle, const auto&) {
    constexpr auto info = &Dispatch::clGetMemObjectInfo;
    constexpr auto of_image = &Dispatch::clGetImageInfo;
    const auto made = std::make_shared<Resource>(handle);
    if (asked<info, cl_mem_object_type>(handle, CL_MEM_TYPE) != CL_MEM_OBJECT_BUFFER) {
        made->format = asked<of_image, cl_image_format>(handle, CL_IMAGE_FORMAT);
        made->bytes = asked<of_image, std::size_t>(handle, CL_IMAGE_ELEMENT_SIZE);
        for (const auto what : {CL_IMAGE_WIDTH, CL_IMAGE_HEIGHT, CL_IMAGE_DEPTH, CL_IMAGE_ARRAY_SIZE})
            if (const auto size = asked<of_image, std::size_t>(handle, what))
                made->sizes.push_back(size), made->bytes *= size;
    } else {
        made->bytes = asked<info, std::size_t>(handle, CL_MEM_SIZE);
        made->origin = asked<info, std::size_t>(handle, CL_MEM_OFFSET);
        made->parent = object_of(asked<info, cl_mem>(handle, CL_MEM_ASSOCIATED_MEMOBJECT)).resource;
    }
    remember(handle, {.resource = made});
};

/// Removes flags that keep the host from reading memory: the layer must read it.
constexpr auto create_memory = [](auto call, const auto& of) {
    using Second = std::remove_cvref_t<std::tuple_element_t<1, std::remove_cvref_t<decltype(of)>>>;
    constexpr auto flags = std::is_pointer_v<Second> ? 2 : 1;  // after a list of properties
    std::get<flags>(of) &= ~cl_mem_flags{CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS};
    return noted<note_memory>(call, of);
};

constexpr auto note_shared = [](void* pointer, const auto& of) {
    const auto& [context, flags, size, alignment] = of;
    remember(pointer, {.resource = std::make_shared<Resource>(nullptr, pointer, "", nullptr, size)});
};

constexpr auto note_free = [](const auto& of) {
    for (cl_uint i = 0; i < std::get<1>(of); ++i) refer(std::get<2>(of)[i], -1);
};

constexpr auto note_sampler = [](cl_sampler handle, const auto&) {
    constexpr auto info = &Dispatch::clGetSamplerInfo;
    static constexpr const char* outside[]{"none", "edge", "zero", "repeat", "mirror"};
    const auto addressing = asked<info, cl_addressing_mode>(handle, CL_SAMPLER_ADDRESSING_MODE) - CL_ADDRESS_NONE;
    const bool is_linear = asked<info, cl_filter_mode>(handle, CL_SAMPLER_FILTER_MODE) == CL_FILTER_LINEAR;
    const bool is_normalized = asked<info, cl_bool>(handle, CL_SAMPLER_NORMALIZED_COORDS);
    const auto text = concat("sampler:", is_linear ? "linear," : "nearest,", outside[std::min(addressing, 4u)],
                             is_normalized ? ",normalized" : ",pixel");
    remember(handle, {.resource = std::make_shared<Resource>(nullptr, nullptr, text)});
};

}  // namespace

std::shared_ptr<Kernel> kernel_of(cl_kernel handle) {
    if (!object_of(handle).kernel) know_kernel(handle, nullptr);
    return object_of(handle).kernel;
}

void wrap_objects(Dispatch& to) {
    using D = Dispatch;
    wrap<noted<note_source>, &D::clCreateProgramWithSource>(to);
    wrap<noted<note_il>, &D::clCreateProgramWithIL>(to);
    wrap<noted<note_binary>, &D::clCreateProgramWithBinary>(to);
    wrap<noted<note_info>, &D::clGetProgramInfo>(to);
    wrap<build, &D::clBuildProgram, &D::clCompileProgram, &D::clLinkProgram>(to);
    wrap<noted<note_kernel>, &D::clCreateKernel>(to);
    wrap<noted<note_kernels>, &D::clCreateKernelsInProgram>(to);
    wrap<noted<note_clone>, &D::clCloneKernel>(to);
    wrap<referred<1>, &D::clRetainProgram, &D::clRetainKernel, &D::clRetainMemObject, &D::clRetainSampler>(to);
    wrap<referred<-1>, &D::clReleaseProgram, &D::clReleaseKernel, &D::clReleaseMemObject, &D::clReleaseSampler,
         &D::clSVMFree>(to);
    if (asked_for.kernels.empty()) return;
    wrap<noted<note_argument>, &D::clSetKernelArg>(to);
    wrap<noted<note_pointer>, &D::clSetKernelArgSVMPointer>(to);
    wrap<create_memory, &D::clCreateBuffer, &D::clCreateBufferWithProperties, &D::clCreateSubBuffer, &D::clCreateImage,
         &D::clCreateImageWithProperties, &D::clCreateImage2D, &D::clCreateImage3D>(to);
    wrap<noted<note_shared>, &D::clSVMAlloc>(to);
    wrap<noted<note_free>, &D::clEnqueueSVMFree>(to);
    wrap<noted<note_sampler>, &D::clCreateSampler, &D::clCreateSamplerWithProperties>(to);
}

}  // namespace cllab::capture
