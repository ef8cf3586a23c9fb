#include "device/driver_cache.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <random>

namespace cllab::device {
namespace {

namespace fs = std::filesystem;

constexpr const char *folder_variable = "CUDA_CACHE_PATH", *off_variable = "CUDA_CACHE_DISABLE";

/// The folder of the first process, in which those of its children are; empty: none of them has one. The driver makes it.
fs::path& own_folder() {
    static fs::path folder;
    return folder;
}

}  // namespace

void use_own_cache() {
    if (std::getenv(off_variable)) return;
    auto& folder = own_folder();
    if (folder.empty()) {
        std::error_code trouble;
        const auto all = fs::temp_directory_path(trouble);
        if (trouble) return;
        std::random_device random;  // nobody else's folder
        folder = all / ("cllab-driver-" + std::to_string(random()) + std::to_string(random()));
    }
    setenv(folder_variable, (folder / std::to_string(getpid())).c_str(), 1);
}

void remove_own_caches() {
    std::error_code ignored;
    if (!own_folder().empty()) fs::remove_all(own_folder(), ignored);
}

std::map<std::string, std::string> cache_settings() {
    std::map<std::string, std::string> out;
    for (const char* name : {"POCL_CACHE_DIR", "POCL_KERNEL_CACHE", off_variable, folder_variable, "CUDA_CACHE_MAXSIZE",
                             "AMD_OCL_CACHE", "cl_cache_dir", "MESA_SHADER_CACHE_DIR", "MESA_SHADER_CACHE_DISABLE"}) {
        if (const char* value = std::getenv(name)) out[name] = value;
    }
    if (!own_folder().empty()) out[folder_variable] = "a new folder for each process";
    return out;
}

std::vector<std::string> compile_cache_settings(const model::Device& device, const std::string& folder) {
    using model::Implementation;
    switch (device.implementation) {
        case Implementation::pocl: return {"POCL_CACHE_DIR=" + folder, "POCL_KERNEL_CACHE=1"};
        case Implementation::nvidia: return {folder_variable + ("=" + folder), off_variable + std::string("=0")};
        case Implementation::amd: return {"AMD_COMGR_CACHE_DIR=" + folder, "AMD_COMGR_CACHE=1"};
        case Implementation::intel_gpu: return {"NEO_CACHE_DIR=" + folder, "NEO_CACHE_PERSISTENT=1", "cl_cache_dir=" + folder};
        case Implementation::rusticl:
        case Implementation::clover: return {"MESA_SHADER_CACHE_DIR=" + folder, "MESA_SHADER_CACHE_DISABLE=false"};
        default: return {};
    }
}

}  // namespace cllab::device
