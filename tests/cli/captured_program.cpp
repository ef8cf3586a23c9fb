// A small OpenCL program for test_capture.py: what its first argument names. On standard output it says what it did
// itself: the launches of each kernel and their own event times in ns, so that a capture can be held against them.
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

const char* const text =
    "typedef struct { int add; float scale; } How;\n"
    "kernel void scale(global float* x, float by, int times) {\n"
    "  const size_t i = get_global_id(0);\n"
    "  for (int k = 0; k < times; ++k) x[i] = x[i] * by + 1.0f;\n"
    "}\n"
    "kernel void add(global const int* a, global const int* b, global int* sum) {\n"
    "  sum[get_global_id(0)] = a[get_global_id(0)] + b[get_global_id(0)];\n"
    "}\n"
    "kernel void with_struct(global int* out, How how, local int* room) {\n"
    "  const int i = get_local_id(0);\n"
    "  room[i] = i; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  out[get_global_id(0)] = room[get_local_size(0) - 1 - i] * how.add + (int)how.scale;\n"
    "}\n"
    "kernel void positive(global const int* x, global int* found, global int* count) {\n"
    "  const int i = get_global_id(0);\n"
    "  if (x[i] > 500) { const int slot = atomic_inc(count); found[slot] = x[i]; }\n"
    "}\n"
    "kernel void picked(global const int* x, global int* found, global int* count) {\n"
    "  if (x[get_global_id(0)] > 500) found[atomic_inc(count)] = x[get_global_id(0)];\n"
    "}\n"
    "kernel void reversed(global How* how, global const How* from, local How* room) {\n"
    "  const int i = get_local_id(0);\n"
    "  room[i] = from[i]; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  how[i] = room[get_local_size(0) - 1 - i];\n"
    "}\n"
    "kernel void address(ulong at, global int* out) { out[get_global_id(0)] = at != 0; }\n"
    "kernel void quads(global float4* x) { x[get_global_id(0)] += 1; }\n"
    "kernel void maybe(global int* a, global int* b) { a[get_global_id(0)] = b ? b[0] : 7; }\n"
    "kernel void idle(global int* x, int not_this) { if (x[0] == not_this) x[1] = 7; }\n"
    "kernel void blur(read_only image2d_t from, sampler_t s, write_only image2d_t to) {\n"
    "  const int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "  write_imagef(to, at, (read_imagef(from, s, at) + read_imagef(from, s, at + (int2)(1, 0))) / 2);\n"
    "}\n";

void need(cl_int result, const char* what) {
    if (result == CL_SUCCESS) return;
    std::fprintf(stderr, "%s: OpenCL error %d\n", what, result);
    std::exit(3);
}

struct Program {
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    cl_context context = nullptr;
    cl_command_queue queue = nullptr;
    cl_program program = nullptr;
    std::map<std::string, std::pair<int, unsigned long long>> launched;
    cl_int result = CL_SUCCESS;

    explicit Program(cl_command_queue_properties properties = CL_QUEUE_PROFILING_ENABLE) {
        need(clGetPlatformIDs(1, &platform, nullptr), "platforms");
        need(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "devices");
        context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &result);
        need(result, "context");
        queue = clCreateCommandQueue(context, device, properties, &result);
        need(result, "queue");
        const char* source = text;
        program = clCreateProgramWithSource(context, 1, &source, nullptr, &result);
        need(clBuildProgram(program, 1, &device, "-DUNUSED=1", nullptr, nullptr), "build");
    }
    cl_kernel kernel(const char* name) {
        const auto out = clCreateKernel(program, name, &result);
        need(result, name);
        return out;
    }
    template <class T>
    cl_mem buffer(const std::vector<T>& data, cl_mem_flags flags = CL_MEM_READ_WRITE) {
        const auto out = clCreateBuffer(context, flags | CL_MEM_COPY_HOST_PTR, data.size() * sizeof(T),
                                        const_cast<T*>(data.data()), &result);
        need(result, "buffer");
        return out;
    }
    template <class T>
    void set(cl_kernel kernel, cl_uint index, const T& value) {
        need(clSetKernelArg(kernel, index, sizeof value, &value), "argument");
    }
    void launch(cl_kernel kernel, const char* name, std::vector<size_t> global, const size_t* local = nullptr,
                std::vector<cl_event> behind = {}, bool wait = true) {
        cl_event event = nullptr;
        need(clEnqueueNDRangeKernel(queue, kernel, static_cast<cl_uint>(global.size()), nullptr, global.data(), local,
                                    static_cast<cl_uint>(behind.size()), behind.empty() ? nullptr : behind.data(),
                                    &event),
             name);
        if (wait) account(name, event);
        if (!wait) clReleaseEvent(event);
    }
    void account(const char* name, cl_event event) {
        clWaitForEvents(1, &event);
        cl_ulong start = 0, end = 0;
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr);
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
        auto& [count, time] = launched[name];
        ++count, time += end - start;
        clReleaseEvent(event);
    }
    void say() const {
        for (const auto& [name, what] : launched) std::printf("%s %d %llu\n", name.c_str(), what.first, what.second);
        std::fflush(stdout);
    }
};

std::vector<float> floats(std::size_t count) {
    std::vector<float> out(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(i % 97);
    return out;
}

std::vector<int> whole(std::size_t count) {
    std::vector<int> out(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<int>(i * 7 % 1001);
    return out;
}

/// 20 launches of one kernel with two sizes, 5 of another, a read.
void counts(Program& p, int times = 20) {
    const auto scale = p.kernel("scale"), add = p.kernel("add");
    const auto x = p.buffer(floats(4096));
    p.set(scale, 0, x), p.set(scale, 1, 1.0f);  // so that every launch changes x
    const size_t local = 64;
    for (int i = 0; i < times; ++i) {
        p.set(scale, 2, i == 7 ? 4000 : 10);
        p.launch(scale, "scale", {i % 2 ? size_t{4096} : size_t{2048}}, i % 2 ? &local : nullptr);
    }
    const auto a = p.buffer(whole(1000)), b = p.buffer(whole(1000)), sum = p.buffer(std::vector<int>(1000));
    p.set(add, 0, a), p.set(add, 1, b), p.set(add, 2, sum);
    for (int i = 0; i < 5; ++i) p.launch(add, "add", {1000});
    std::vector<int> read(1000);
    need(clEnqueueReadBuffer(p.queue, sum, CL_TRUE, 0, 4000, read.data(), 0, nullptr, nullptr), "read");
    std::printf("sum %d\n", read[999]);
}

void structs(Program& p) {
    const auto kernel = p.kernel("with_struct");
    struct {
        int add;
        float scale;
    } how{3, 2.5f};
    const auto out = p.buffer(std::vector<int>(256));
    p.set(kernel, 0, out), p.set(kernel, 1, how);
    need(clSetKernelArg(kernel, 2, 64 * sizeof(int), nullptr), "local");
    const size_t local = 64;
    p.launch(kernel, "with_struct", {256}, &local);
}

/// Of types that only the text knows.
void parts_of_structs(Program& p) {
    const auto kernel = p.kernel("reversed");
    const auto how = p.buffer(std::vector<int>(64, 1)), all = p.buffer(whole(4096));
    const cl_buffer_region region{8192, 4096};
    const auto from = clCreateSubBuffer(all, CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &region, &p.result);
    need(p.result, "part");
    p.set(kernel, 0, how), p.set(kernel, 1, from);
    need(clSetKernelArg(kernel, 2, 32 * 2 * sizeof(int), nullptr), "local");
    const size_t local = 32;
    p.launch(kernel, "reversed", {32}, &local);
}

/// The whole buffer is an argument, too.
void part_and_whole(Program& p) {
    const auto kernel = p.kernel("add");
    const auto all = p.buffer(whole(4096));
    const cl_buffer_region region{4096, 4000};
    const auto part = clCreateSubBuffer(all, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &p.result);
    p.set(kernel, 0, part), p.set(kernel, 1, all), p.set(kernel, 2, part);
    p.launch(kernel, "add", {1000});
}

/// Both inputs are parts of one buffer; the results go where one input is.
void parts(Program& p) {
    const auto kernel = p.kernel("add");
    const auto parent = p.buffer(whole(4096));
    cl_buffer_region first{0, 4000}, second{4096, 4000};
    const auto a = clCreateSubBuffer(parent, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &first, &p.result),
               b = clCreateSubBuffer(parent, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &second, &p.result);
    p.set(kernel, 0, a), p.set(kernel, 1, b), p.set(kernel, 2, b);
    p.launch(kernel, "add", {1000});
}

void idle(Program& p) {
    const auto kernel = p.kernel("idle");
    const auto x = p.buffer(whole(16));
    p.set(kernel, 0, x), p.set(kernel, 1, -1);
    p.launch(kernel, "idle", {1});
}

/// The last columns stay as they were.
void images(Program& p) {
    const auto kernel = p.kernel("blur");
    const cl_image_format format{CL_RGBA, CL_FLOAT};
    cl_image_desc size{};
    size.image_type = CL_MEM_OBJECT_IMAGE2D, size.image_width = 32, size.image_height = 16;
    auto data = floats(32 * 16 * 4);
    const auto from =
        clCreateImage(p.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &size, data.data(), &p.result);
    need(p.result, "image");
    const auto to =
        clCreateImage(p.context, CL_MEM_WRITE_ONLY | CL_MEM_COPY_HOST_PTR, &format, &size, data.data(), &p.result);
    const auto sampler = clCreateSampler(p.context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, &p.result);
    p.set(kernel, 0, from), p.set(kernel, 1, sampler), p.set(kernel, 2, to);
    p.launch(kernel, "blur", {30, 16});
}

/// The program of the kernels is released first, one kernel is a clone, and all kernels were made at once.
void released(Program& p) {
    cl_kernel all[32];
    cl_uint count = 0;
    need(clCreateKernelsInProgram(p.program, 32, all, &count), "kernels");
    clReleaseProgram(p.program);
    p.program = nullptr;
    for (cl_uint i = 0; i < count; ++i) {
        char name[64] = "";
        clGetKernelInfo(all[i], CL_KERNEL_FUNCTION_NAME, sizeof name, name, nullptr);
        if (std::strcmp(name, "scale") != 0) continue;
        const auto x = p.buffer(floats(512));
        p.set(all[i], 0, x), p.set(all[i], 1, 2.0f), p.set(all[i], 2, 3);
        const auto copy = clCloneKernel(all[i], &p.result);
        need(p.result, "clone");
        clReleaseKernel(all[i]);
        p.launch(copy, "scale", {512});
    }
}

/// The launch waits for what the program does only afterwards.
void user_event(Program& p) {
    const auto kernel = p.kernel("scale");
    const auto x = p.buffer(floats(256));
    p.set(kernel, 0, x), p.set(kernel, 1, 2.0f), p.set(kernel, 2, 3);
    const auto gate = clCreateUserEvent(p.context, &p.result);
    cl_event event = nullptr;
    const size_t global = 256;
    need(clEnqueueNDRangeKernel(p.queue, kernel, 1, nullptr, &global, nullptr, 1, &gate, &event), "launch");
    clFlush(p.queue);
    clSetUserEventStatus(gate, CL_COMPLETE);
    p.account("scale", event);
    clFinish(p.queue);
}

/// What the launch waits for fails.
void failed_event(Program& p) {
    const auto kernel = p.kernel("add");
    const auto x = p.buffer(whole(64));
    p.set(kernel, 0, x), p.set(kernel, 1, x), p.set(kernel, 2, p.buffer(whole(64)));
    const auto gate = clCreateUserEvent(p.context, &p.result);
    const size_t global = 64;
    need(clEnqueueNDRangeKernel(p.queue, kernel, 1, nullptr, &global, nullptr, 1, &gate, nullptr), "launch");
    clFlush(p.queue);
    clSetUserEventStatus(gate, -7);
}

/// Of two launches on an out-of-order queue the second overwrites what the first wrote.
void out_of_order(Program& p) {
    const auto kernel = p.kernel("scale");
    const auto x = p.buffer(floats(256));
    p.set(kernel, 0, x), p.set(kernel, 1, 2.0f), p.set(kernel, 2, 3);
    const size_t global = 256;
    cl_event events[2];
    need(clEnqueueNDRangeKernel(p.queue, kernel, 1, nullptr, &global, nullptr, 0, nullptr, &events[0]), "launch");
    need(clEnqueueNDRangeKernel(p.queue, kernel, 1, nullptr, &global, nullptr, 1, &events[0], &events[1]), "launch");
    p.account("scale", events[0]), p.account("scale", events[1]);
    clFinish(p.queue);
}

void shared(Program& p) {
    const auto kernel = p.kernel("scale");
    auto* x = static_cast<float*>(clSVMAlloc(p.context, CL_MEM_READ_WRITE, 1024 * sizeof(float), 0));
    need(x ? CL_SUCCESS : CL_OUT_OF_RESOURCES, "svm");
    need(clEnqueueSVMMap(p.queue, CL_TRUE, CL_MAP_WRITE, x, 4096, 0, nullptr, nullptr), "map");
    for (int i = 0; i < 1024; ++i) x[i] = static_cast<float>(i);
    need(clEnqueueSVMUnmap(p.queue, x, 0, nullptr, nullptr), "unmap");
    need(clSetKernelArgSVMPointer(kernel, 0, x), "svm");
    p.set(kernel, 1, 2.0f), p.set(kernel, 2, 3);
    p.launch(kernel, "scale", {1024});
    auto* all = static_cast<int*>(clSVMAlloc(p.context, CL_MEM_READ_WRITE, 4096 * sizeof(int), 0));
    need(all ? CL_SUCCESS : CL_OUT_OF_RESOURCES, "svm");
    need(clEnqueueSVMMap(p.queue, CL_TRUE, CL_MAP_WRITE, all, 16384, 0, nullptr, nullptr), "map");
    for (int i = 0; i < 4096; ++i) all[i] = i;
    need(clEnqueueSVMUnmap(p.queue, all, 0, nullptr, nullptr), "unmap");
    const auto add = p.kernel("add");
    need(clSetKernelArgSVMPointer(add, 0, all), "svm");
    need(clSetKernelArgSVMPointer(add, 1, all), "svm");
    need(clSetKernelArgSVMPointer(add, 2, all + 1003), "svm");
    p.launch(add, "add", {1000});
    const auto address = p.kernel("address");
    p.set(address, 0, all), p.set(address, 1, p.buffer(whole(64)));
    p.launch(address, "address", {64});
    clSVMFree(p.context, all);
}

void null(Program& p) {
    const auto kernel = p.kernel("maybe");
    const auto a = p.buffer(whole(64));
    p.set(kernel, 0, a);
    const cl_mem none = nullptr;
    for (const cl_mem* value : {static_cast<const cl_mem*>(nullptr), &none}) {
        need(clSetKernelArg(kernel, 1, sizeof none, value), "null");
        p.launch(kernel, "maybe", {64});
    }
    need(clSetKernelArgSVMPointer(kernel, 1, nullptr), "null");
    p.launch(kernel, "maybe", {64});
}

void vectors(Program& p) {
    const auto kernel = p.kernel("quads");
    p.set(kernel, 0, p.buffer(std::vector<float>(10, 1)));
    p.launch(kernel, "quads", {2});
}

void appended(Program& p) {
    for (const char* name : {"positive", "picked"}) {
        const auto kernel = p.kernel(name);
        const auto x = p.buffer(whole(1000)), found = p.buffer(std::vector<int>(1000)),
                   count = p.buffer(std::vector<int>(1));
        p.set(kernel, 0, x), p.set(kernel, 1, found), p.set(kernel, 2, count);
        const size_t local = 10;
        p.launch(kernel, name, {1000}, &local);
    }
}

/// The host may not read what it made.
void twice(Program& p) {
    const auto kernel = p.kernel("add");
    const auto a = p.buffer(whole(64), CL_MEM_READ_ONLY | CL_MEM_HOST_WRITE_ONLY),
               sum = p.buffer(whole(64), CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS);
    p.set(kernel, 0, a), p.set(kernel, 1, a), p.set(kernel, 2, sum);
    p.launch(kernel, "add", {64});
}

std::vector<unsigned char> binary(Program& p) {
    size_t size = 0;
    need(clGetProgramInfo(p.program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr), "size");
    std::vector<unsigned char> bytes(size);
    auto* data = bytes.data();
    need(clGetProgramInfo(p.program, CL_PROGRAM_BINARIES, sizeof data, &data, nullptr), "binary");
    return bytes;
}

void run_binary(Program& p, const std::vector<unsigned char>& bytes) {
    clReleaseProgram(p.program);
    const auto size = bytes.size();
    const unsigned char* given = bytes.data();
    p.program = clCreateProgramWithBinary(p.context, 1, &p.device, &size, &given, nullptr, &p.result);
    need(clBuildProgram(p.program, 1, &p.device, "", nullptr, nullptr), "build");
    counts(p, 1);
}

void save(Program& p) {
    const auto bytes = binary(p);
    std::ofstream("program.bin", std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

/// What another process saved.
void load(Program& p) {
    std::ifstream file("program.bin", std::ios::binary);
    run_binary(p, {std::istreambuf_iterator<char>(file), {}});
}

/// A program of a binary, whose text the process compiled before; a linked program with a header.
void binaries(Program& p) {
    run_binary(p, binary(p));
    const char *header = "#define TWICE(x) (2 * (x))\n",
               *source =
                   "#include \"twice.h\"\nkernel void twice(global int* x) { x[get_global_id(0)] = "
                   "TWICE(x[get_global_id(0)]); }\n",
               *name = "twice.h";
    const auto included = clCreateProgramWithSource(p.context, 1, &header, nullptr, &p.result),
               part = clCreateProgramWithSource(p.context, 1, &source, nullptr, &p.result);
    need(clCompileProgram(part, 1, &p.device, "", 1, &included, &name, nullptr, nullptr), "compile");
    const auto linked = clLinkProgram(p.context, 1, &p.device, "", 1, &part, nullptr, nullptr, &p.result);
    need(p.result, "link");
    const auto kernel = clCreateKernel(linked, "twice", &p.result);
    need(p.result, "twice");
    const auto x = p.buffer(whole(64));
    p.set(kernel, 0, x);
    p.launch(kernel, "twice", {64});
}

/// Before its longest launch no file gets more than 8 KiB any more, as on a disk that is full: the buffer does not fit.
void full_disk(Program& p) {
    counts(p);
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit most{8192, 8192};
    ::setrlimit(RLIMIT_FSIZE, &most);
    const auto scale = p.kernel("scale");
    const auto x = p.buffer(floats(4096));
    p.set(scale, 0, x), p.set(scale, 1, 1.0f), p.set(scale, 2, 100000);
    p.launch(scale, "scale", {2048});
}

void threads(Program& p) {
    std::vector<std::thread> all;
    for (int t = 0; t < 4; ++t)
        all.emplace_back([&p] {
            cl_int result = CL_SUCCESS;
            const auto queue = clCreateCommandQueue(p.context, p.device, 0, &result);
            const auto kernel = clCreateKernel(p.program, "scale", &result);
            const auto x = p.buffer(floats(256));
            p.set(kernel, 0, x), p.set(kernel, 1, 1.5f), p.set(kernel, 2, 2);
            const size_t global = 256;
            for (int i = 0; i < 250; ++i)
                clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, nullptr, 0, nullptr, nullptr);
            clFinish(queue);
            clReleaseMemObject(x), clReleaseKernel(kernel), clReleaseCommandQueue(queue);
        });
    for (auto& thread : all) thread.join();
    p.launched["scale"] = {1000, 0};
}

}  // namespace

int main(int count, char** words) {
    const std::string what = count > 1 ? words[1] : "counts";
    if (what == "nothing") return 5;
    Program p(CL_QUEUE_PROFILING_ENABLE |
              (what == "out_of_order" || what == "failed_event" ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0));
    const std::map<std::string, void (*)(Program&)> all{
        {"counts", [](Program& q) { counts(q); }},
        {"structs", structs},
        {"parts", parts},
        {"parts_of_structs", parts_of_structs},
        {"part_and_whole", part_and_whole},
        {"idle", idle},
        {"images", images},
        {"released", released},
        {"user_event", user_event},
        {"failed_event", failed_event},
        {"out_of_order", out_of_order},
        {"shared", shared},
        {"null", null},
        {"vectors", vectors},
        {"appended", appended},
        {"twice", twice},
        {"binaries", binaries},
        {"save", save},
        {"load", load},
        {"threads", threads},
        {"crash", [](Program& q) { counts(q), q.say(), ::kill(::getpid(), SIGKILL); }},
        {"full", full_disk},
        {"hang", [](Program& q) { counts(q), q.say(), ::pause(); }}};
    const auto found = all.find(what);
    if (found == all.end()) return 2;
    found->second(p);
    p.say();
    return count > 2 ? std::atoi(words[2]) : 0;
}
