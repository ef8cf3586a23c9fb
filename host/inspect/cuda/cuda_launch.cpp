// Launches one kernel in PTX through the CUDA driver, with arguments from files: NVIDIA's profilers see CUDA but no
// OpenCL. `cllab ncu` runs it in a child process. `cllab ncu --export` writes this file, with a main() added, as a
// separate program:
//     g++ -O2 -std=c++17 -DCUDA_LAUNCH_MAIN launch.cpp -o launch -ldl && ./launch .
// The build needs no CUDA: the program opens libcuda.so.1 at run time.
//
// FOLDER/launch.txt has one entry per line:   ptx FILE · entry NAME · gpu UUID · grid X Y Z · block X Y Z ·
// operations N · and in the kernel's order   buffer FILE BYTES [out] · value HEX.   Returns {"seconds":[…]} and
// writes each out buffer, as it is after N launches, to FILE.out.
#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Bytes = std::vector<char>;

Bytes read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error("file '" + path + "' cannot be read");
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The functions of the CUDA driver that a launch needs, by their names in the library.
class Driver {
public:
    Driver() : library_(dlopen("libcuda.so.1", RTLD_NOW)) {
        if (!library_)
            throw std::runtime_error("the CUDA driver (libcuda.so.1) cannot be opened: " + std::string(dlerror()));
    }

    template <typename... Arguments>
    void call(const char* name, Arguments... arguments) {
        const int code = function<Arguments...>(name)(arguments...);
        if (code == 0) return;
        const char* words = nullptr;
        function<int, const char**>("cuGetErrorString")(code, &words);
        throw std::runtime_error(std::string(name) + " returned " + std::to_string(code) +
                                 (words ? ": " + std::string(words) : ""));
    }

private:
    template <typename... Arguments>
    int (*function(const char* name))(Arguments...) {
        void* found = dlsym(library_, name);
        if (!found) throw std::runtime_error("the CUDA driver exports no function " + std::string(name));
        return reinterpret_cast<int (*)(Arguments...)>(found);
    }

    void* library_;
};

struct Argument {
    std::string file;  ///< of a buffer
    std::size_t bytes = 0;
    bool out = false;
    Bytes value;                ///< of a scalar argument
    std::uint64_t address = 0;  ///< of a buffer
};

struct Plan {
    std::string folder, ptx, entry, gpu;
    std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1};
    unsigned operations = 1;
    std::vector<Argument> arguments;
};

Plan plan_in(const std::string& folder) {
    Plan plan{folder, {}, {}, {}, {1, 1, 1}, {1, 1, 1}, 1, {}};
    const auto text = read(folder + "/launch.txt");
    std::istringstream lines(std::string(text.begin(), text.end()));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string what;
        words >> what;
        const auto three = [&](auto& to) { words >> to[0] >> to[1] >> to[2]; };
        if (what == "ptx")
            words >> plan.ptx;
        else if (what == "entry")
            words >> plan.entry;
        else if (what == "gpu")
            words >> plan.gpu;
        else if (what == "grid")
            three(plan.grid);
        else if (what == "block")
            three(plan.block);
        else if (what == "operations")
            words >> plan.operations;
        else if (what == "buffer") {
            Argument argument;
            std::string out;
            words >> argument.file >> argument.bytes;
            argument.out = static_cast<bool>(words >> out);
            plan.arguments.push_back(argument);
            continue;
        } else if (what == "value") {
            Argument argument;
            std::string hex;
            words >> hex;
            for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
                argument.value.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
            plan.arguments.push_back(argument);
        } else
            throw std::runtime_error("launch.txt has a line that begins with an unknown word: '" + line + "'");
        if (words.fail()) throw std::runtime_error("launch.txt has a line without all its values: '" + line + "'");
    }
    return plan;
}

std::string hex_of(const std::array<unsigned char, 16>& bytes) {
    std::string out;
    for (const unsigned byte : bytes) out += "0123456789abcdef"[byte >> 4], out += "0123456789abcdef"[byte & 15];
    return out;
}

/// The device with this UUID of 32 hexadecimal digits; the first device if `uuid` is empty.
int device_of(Driver& cuda, const std::string& uuid) {
    int count = 0, device = 0;
    cuda.call("cuDeviceGetCount", &count);
    for (int i = 0; i < count; ++i) {
        std::array<unsigned char, 16> bytes{};
        cuda.call("cuDeviceGet", &device, i);
        cuda.call("cuDeviceGetUuid", bytes.data(), device);
        if (uuid.empty() || hex_of(bytes) == uuid) return device;
    }
    throw std::runtime_error("none of the CUDA driver's " + std::to_string(count) + " devices has the UUID " + uuid);
}

std::string launch(Plan& plan, unsigned timed) {
    Driver cuda;
    cuda.call("cuInit", 0u);
    const int device = device_of(cuda, plan.gpu);
    void *context = nullptr, *module = nullptr, *function = nullptr, *before = nullptr, *after = nullptr;
    cuda.call("cuDevicePrimaryCtxRetain", &context, device);
    cuda.call("cuCtxSetCurrent", context);
    auto ptx = read(plan.folder + "/" + plan.ptx);
    ptx.push_back('\0');
    cuda.call("cuModuleLoadData", &module, static_cast<const void*>(ptx.data()));
    cuda.call("cuModuleGetFunction", &function, module, plan.entry.c_str());

    std::vector<void*> given;
    for (auto& argument : plan.arguments) {
        if (!argument.file.empty()) {
            const auto data = read(plan.folder + "/" + argument.file);
            if (data.size() != argument.bytes)
                throw std::runtime_error(argument.file + " has " + std::to_string(data.size()) +
                                         " bytes; launch.txt expects " + std::to_string(argument.bytes));
            cuda.call("cuMemAlloc_v2", &argument.address, argument.bytes);
            cuda.call("cuMemcpyHtoD_v2", argument.address, static_cast<const void*>(data.data()), argument.bytes);
        }
        given.push_back(argument.file.empty() ? static_cast<void*>(argument.value.data()) : &argument.address);
    }
    const auto run = [&] {
        cuda.call("cuLaunchKernel", function, plan.grid[0], plan.grid[1], plan.grid[2], plan.block[0], plan.block[1],
                  plan.block[2], 0u, static_cast<void*>(nullptr), given.data(), static_cast<void**>(nullptr));
    };
    for (unsigned i = 0; i < plan.operations; ++i) run();
    cuda.call("cuCtxSynchronize");
    for (const auto& argument : plan.arguments) {
        if (!argument.out) continue;
        Bytes back(argument.bytes);
        cuda.call("cuMemcpyDtoH_v2", static_cast<void*>(back.data()), argument.address, argument.bytes);
        std::ofstream(plan.folder + "/" + argument.file + ".out", std::ios::binary)
            .write(back.data(), static_cast<std::streamsize>(back.size()));
    }
    cuda.call("cuEventCreate", &before, 0u);
    cuda.call("cuEventCreate", &after, 0u);
    std::ostringstream printed;
    printed.precision(9);
    printed << "{\"seconds\":[";
    for (unsigned i = 0; i < timed; ++i) {
        float milliseconds = 0;
        cuda.call("cuEventRecord", before, static_cast<void*>(nullptr));
        run();
        cuda.call("cuEventRecord", after, static_cast<void*>(nullptr));
        cuda.call("cuEventSynchronize", after);
        cuda.call("cuEventElapsedTime", &milliseconds, before, after);
        printed << (i ? "," : "") << static_cast<double>(milliseconds) / 1e3;
    }
    printed << "]}\n";
    return printed.str();
}

}  // namespace

/// Returns the times as JSON. `timed`: launches after those of the plan, each timed by two events.
std::string cuda_launch(const std::string& folder, unsigned timed) {
    auto plan = plan_in(folder);
    return launch(plan, timed);
}
