#include "capture/layer/objects.hpp"

#include <chrono>
#include <set>

namespace cllab::capture {

Objects& objects = *new Objects;
Settings& settings = *new Settings;
Board* board = nullptr;
const Dispatch* next = nullptr;

void note(const std::string& text) {
    static std::mutex mutex;
    static auto& told = *new std::set<std::string>;
    const std::lock_guard lock(mutex);
    if (!told.insert(text).second) return;
    if (auto* place = claim(board->notes, board->note)) place->set(text);
}

namespace {

// Programs.

std::shared_ptr<Program> hashed(Program program) {
    program.hash = std::hash<std::string>{}(program.options + '\0' + program.bytes);
    return std::make_shared<Program>(std::move(program));
}

constexpr auto note_source = [](cl_program handle, const auto& of) {
    const auto& [context, count, strings, lengths, error] = of;
    std::string text;
    for (cl_uint i = 0; i < count; ++i)
        text.append(strings[i], lengths && lengths[i] ? lengths[i] : std::strlen(strings[i]));
    objects.programs.add(handle, hashed({Program::Form::text, text}));
};

constexpr auto note_il = [](cl_program handle, const auto& of) {
    const auto& [context, il, length, error] = of;
    objects.programs.add(handle, hashed({Program::Form::spirv, {static_cast<const char*>(il), length}}));
};

constexpr auto note_binary = [](cl_program handle, const auto& of) {
    const auto& [context, count, devices, lengths, binaries, status, error] = of;
    objects.programs.add(
        handle, hashed({Program::Form::binary, {reinterpret_cast<const char*>(binaries[0]), lengths[0]}}));
};

/// Kernels of an earlier build keep its record. Where launches are kept, the names of parameters are needed.
cl_int CL_API_CALL build_program(cl_program handle, cl_uint count, const cl_device_id* devices, const char* given,
                                 void(CL_CALLBACK* notify)(cl_program, void*), void* data) {
    std::string options = given ? given : "";
    const auto program = objects.programs.find(handle);
    if (program) objects.programs.replace(handle, hashed({program->form, program->bytes, options}));
    if (!settings.kernels.empty()) options += " -cl-kernel-arg-info";
    const auto begin = std::chrono::steady_clock::now();
    const auto result = next->clBuildProgram(handle, count, devices, options.c_str(), notify, data);
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
    ++board->builds.count;
    board->builds.ns += static_cast<std::uint64_t>(took.count());
    return result;
}

// Kernels.

void know(cl_kernel handle, cl_program program) {
    auto known = objects.programs.find(program);
    if (!known) known = std::make_shared<Program>();
    objects.kernels.add(handle, std::make_shared<Kernel>(asked<&Dispatch::clGetKernelInfo>(
                                    handle, CL_KERNEL_FUNCTION_NAME), known));
}

constexpr auto note_kernel = [](cl_kernel handle, const auto& of) { know(handle, std::get<0>(of)); };

constexpr auto note_kernels = [](const auto& of) {
    const auto& [program, room, kernels, given] = of;
    const auto count = asked<&Dispatch::clGetProgramInfo, std::size_t>(program, CL_PROGRAM_NUM_KERNELS);
    for (std::size_t i = 0; kernels && i < count && i < room; ++i) know(kernels[i], program);
};

constexpr auto note_clone = [](cl_kernel copy, const auto& of) {
    const auto from = kernel_of(std::get<0>(of));
    const std::lock_guard lock(from->mutex);
    objects.kernels.add(copy, std::make_shared<Kernel>(from->name, from->program, from->arguments));
};

/// Only what the driver took: else it keeps the value before.
void set(cl_kernel handle, cl_uint index, Argument argument) {
    const auto kernel = kernel_of(handle);
    const std::lock_guard lock(kernel->mutex);
    if (kernel->arguments.size() <= index) kernel->arguments.resize(index + 1);
    kernel->arguments[index] = std::move(argument);
}

constexpr auto note_argument = [](const auto& of) {
    const auto& [handle, index, size, value] = of;
    Argument argument{.is_set = true, .size = size};
    const void* pointer = nullptr;
    if (value) argument.value.emplace(static_cast<const char*>(value), size);
    if (value && size == sizeof pointer) std::memcpy(&pointer, value, size);
    if (pointer) argument.memory = objects.memory.find(pointer), argument.sampler = objects.samplers.find(pointer);
    set(handle, index, std::move(argument));
};

constexpr auto note_pointer = [](const auto& of) {
    set(std::get<0>(of), std::get<1>(of), {.is_set = true, .is_pointer = true});
};

// Memory and samplers, as the driver describes what it has just made.

constexpr auto note_memory = [](cl_mem handle, const auto&) {
    constexpr auto info = &Dispatch::clGetMemObjectInfo;
    constexpr auto of_image = &Dispatch::clGetImageInfo;
    auto memory = std::make_shared<Memory>(handle, asked<info, cl_mem_object_type>(handle, CL_MEM_TYPE));
    if (memory->is_image()) {
        memory->format = asked<of_image, cl_image_format>(handle, CL_IMAGE_FORMAT);
        memory->bytes = asked<of_image, std::size_t>(handle, CL_IMAGE_ELEMENT_SIZE);
        for (const auto what : {CL_IMAGE_WIDTH, CL_IMAGE_HEIGHT, CL_IMAGE_DEPTH, CL_IMAGE_ARRAY_SIZE})
            if (const auto size = asked<of_image, std::size_t>(handle, what))
                memory->sizes.push_back(size), memory->bytes *= size;
    } else {
        memory->bytes = asked<info, std::size_t>(handle, CL_MEM_SIZE);
        memory->origin = asked<info, std::size_t>(handle, CL_MEM_OFFSET);
        memory->parent = objects.memory.find(asked<info, cl_mem>(handle, CL_MEM_ASSOCIATED_MEMOBJECT));
    }
    objects.memory.add(handle, memory);
};

constexpr auto note_sampler = [](cl_sampler handle, const auto&) {
    constexpr auto info = &Dispatch::clGetSamplerInfo;
    objects.samplers.add(
        handle, std::make_shared<Sampler>(asked<info, cl_bool>(handle, CL_SAMPLER_NORMALIZED_COORDS),
                                          asked<info, cl_addressing_mode>(handle, CL_SAMPLER_ADDRESSING_MODE),
                                          asked<info, cl_filter_mode>(handle, CL_SAMPLER_FILTER_MODE)));
};

}  // namespace

std::shared_ptr<Kernel> kernel_of(cl_kernel handle) {
    if (auto kernel = objects.kernels.find(handle)) return kernel;
    know(handle, nullptr);
    return objects.kernels.find(handle);
}

void wrap_objects(Dispatch& to) {
    wrap_noted<&Dispatch::clCreateProgramWithSource, note_source>(to);
    wrap_noted<&Dispatch::clCreateProgramWithIL, note_il>(to);
    wrap_noted<&Dispatch::clCreateProgramWithBinary, note_binary>(to);
    wrap<&Dispatch::clBuildProgram>(to, build_program);
    wrap_references<&Dispatch::clRetainProgram, &Dispatch::clReleaseProgram, &Objects::programs>(to);
    wrap_noted<&Dispatch::clCreateKernel, note_kernel>(to);
    wrap_noted<&Dispatch::clCreateKernelsInProgram, note_kernels>(to);
    wrap_noted<&Dispatch::clCloneKernel, note_clone>(to);
    wrap_references<&Dispatch::clRetainKernel, &Dispatch::clReleaseKernel, &Objects::kernels>(to);
    if (settings.kernels.empty()) return;
    wrap_noted<&Dispatch::clSetKernelArg, note_argument>(to);
    wrap_noted<&Dispatch::clSetKernelArgSVMPointer, note_pointer>(to);
    wrap_noted<&Dispatch::clCreateBuffer, note_memory>(to);
    wrap_noted<&Dispatch::clCreateBufferWithProperties, note_memory>(to);
    wrap_noted<&Dispatch::clCreateSubBuffer, note_memory>(to);
    wrap_noted<&Dispatch::clCreateImage, note_memory>(to);
    wrap_noted<&Dispatch::clCreateImageWithProperties, note_memory>(to);
    wrap_noted<&Dispatch::clCreateImage2D, note_memory>(to);
    wrap_noted<&Dispatch::clCreateImage3D, note_memory>(to);
    wrap_references<&Dispatch::clRetainMemObject, &Dispatch::clReleaseMemObject, &Objects::memory>(to);
    wrap_noted<&Dispatch::clCreateSampler, note_sampler>(to);
    wrap_noted<&Dispatch::clCreateSamplerWithProperties, note_sampler>(to);
    wrap_references<&Dispatch::clRetainSampler, &Dispatch::clReleaseSampler, &Objects::samplers>(to);
}

}  // namespace cllab::capture
