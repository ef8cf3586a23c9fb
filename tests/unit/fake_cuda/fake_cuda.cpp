// A stand-in for libcuda.so.1 with one device, whose memory is the host's. fake_copy copies its first argument to its
// second, as many bytes as the smaller one has; fake_half half of them.
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>

namespace {
std::map<std::uint64_t, std::size_t> sizes;
std::deque<std::unique_ptr<char[]>> memory;  // until the library is closed
std::string kernel;
}  // namespace

extern "C" {
int cuInit(unsigned) { return 0; }
int cuDeviceGetCount(int* count) { return *count = 1, 0; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }
int cuDeviceGetUuid(unsigned char* uuid, int) {
    for (unsigned i = 0; i < 16; ++i) uuid[i] = static_cast<unsigned char>(i * 0x11);
    return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) { return *context = &kernel, 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuCtxSynchronize() { return 0; }
int cuModuleLoadData(void** module, const void* image) {
    return *module = &kernel, std::strstr(static_cast<const char*>(image), "PTX") ? 0 : 218;
}
int cuModuleGetFunction(void** function, void*, const char* name) {
    kernel = name;
    *function = &kernel;
    return kernel == "fake_copy" || kernel == "fake_half" ? 0 : 500;
}
int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
    *address = reinterpret_cast<std::uint64_t>(memory.emplace_back(new char[bytes]).get());
    sizes[*address] = bytes;
    return 0;
}
int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
    return std::memcpy(reinterpret_cast<void*>(to), from, bytes), 0;
}
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
    return std::memcpy(to, reinterpret_cast<void*>(from), bytes), 0;
}
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void** arguments,
                   void**) {
    const auto from = *static_cast<std::uint64_t*>(arguments[0]), to = *static_cast<std::uint64_t*>(arguments[1]);
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from),
                sizes[to] / (kernel == "fake_half" ? 2 : 1));
    return 0;
}
int cuEventCreate(void** event, unsigned) { return *event = &kernel, 0; }
int cuEventRecord(void*, void*) { return 0; }
int cuEventSynchronize(void*) { return 0; }
int cuEventElapsedTime(float* milliseconds, void*, void*) { return *milliseconds = 0.5f, 0; }
int cuGetErrorString(int, const char** words) { return *words = "a fault of the stand-in", 0; }
}
