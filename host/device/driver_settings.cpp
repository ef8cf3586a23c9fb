#include "device/driver_settings.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>

#include "core/reading.hpp"

namespace cllab::device {
namespace {

namespace fs = std::filesystem;

constexpr const char *folder_variable = "CUDA_CACHE_PATH", *off_variable = "CUDA_CACHE_DISABLE";

constexpr const char* driver_folder = "driver";

constexpr const char* affinity_variable = "POCL_AFFINITY";

/// Prefixes of the variables that the drivers of PoCL, NVIDIA, AMD, Intel and Mesa read. Any of these may change code
/// or times. Users share records, so no prefix may match variables of other programs, such as passwords.
constexpr std::string_view prefixes[]{
    "POCL_", "CUDA_CACHE_", "CUDA_FORCE_",       "CUDA_VISIBLE_", "CUDA_DEVICE_", "AMD_OCL_", "GPU_MAX_", "HSA_",
    "ROC_",  "CL_CONFIG_",  "cl_cache_",         "IGC_",          "NEOReadDebug", "ZE_",      "MESA_",    "RUSTICL_",
    "LP_N",  "GALLIVM_",    "GPU_SINGLE_ALLOC_"};

bool may_use_all_cores() {
    cpu_set_t cores;
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (online <= 0 || sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) != online) return false;
    for (long core = 0; core < online; ++core)
        if (!CPU_ISSET(static_cast<std::size_t>(core), &cores)) return false;
    return true;
}

/// True if more looks than not find other threads: even on an idle machine, a thread of the system runs now and then.
bool others_run(int (*running)()) {
    constexpr int looks = 3;
    int busy = 0;
    for (int i = 0; i < looks; ++i) {
        if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        if (running() > 1) ++busy;
    }
    return 2 * busy > looks;
}

void use_cache(const std::string& name) {
    const auto folder = own_folder();  // before a child is made, which would own it otherwise
    if (std::getenv(off_variable) || folder.empty()) return;
    setenv(folder_variable, (folder / driver_folder / name).c_str(), 1);  // the driver creates it
}

}  // namespace

void use_own_cache() { use_cache(std::to_string(getpid())); }

void use_shared_cache() { use_cache("shared"); }

int threads_that_run() {
    std::ifstream in("/proc/loadavg");
    std::string one, five, fifteen;
    int out = 1;
    return in >> one >> five >> fifteen >> out ? out : 1;  // "0.20 0.18 0.12 1/80 11206"
}

void pin_threads(int (*running)()) {
    for (const char* count : {"POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT"})
        if (std::getenv(count)) return;
    if (!std::getenv(affinity_variable) && may_use_all_cores() && !others_run(running))
        setenv(affinity_variable, "1", 1);
}

void use_only_drivers(const std::map<std::string, std::string>& libraries,
                      const std::map<std::string, std::string>& variables) {
    // Debian's loader also accepts a library's name, and Khronos' only a folder with files that name libraries.
    // NVIDIA's joins folder and file without a slash.
    const auto folder = own_folder() / ("drivers-" + std::to_string(getpid()));
    std::error_code ignored;
    fs::create_directory(folder, ignored);
    for (const auto& [icd, library] : libraries) std::ofstream(folder / icd) << library << '\n';
    setenv("OCL_ICD_VENDORS", (folder / "").c_str(), 1);
    unsetenv("OCL_ICD_FILENAMES");
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
}

std::map<std::string, std::string> driver_settings() {
    std::map<std::string, std::string> out;
    for (char** one = environ; *one; ++one) {
        const std::string_view variable = *one;
        const auto end = variable.find('=');
        if (end != variable.npos && std::ranges::any_of(prefixes, [&](auto p) { return variable.starts_with(p); }))
            out[std::string(variable.substr(0, end))] = variable.substr(end + 1);
    }
    if (const auto folder = out.find(folder_variable);
        folder != out.end() && fs::path(folder->second).parent_path() == own_folder() / driver_folder)
        folder->second = "a new folder for each process";
    return out;
}

}  // namespace cllab::device
