#include "device/nvml.hpp"

#include <dlfcn.h>

namespace cllab::device {

std::string nvidia_id(const std::string& identity) {
    if (identity.starts_with("PCI ")) return identity.substr(4);
    const std::string hex = identity.starts_with("UUID ") ? identity.substr(5) : std::string();
    if (hex.size() != 32) return {};
    return "GPU-" + hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" + hex.substr(16, 4) +
           "-" + hex.substr(20);
}

Nvml::Nvml(const std::string& library, const std::string& identity, std::string& why)
    : library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) {
        why = "none: " + library + ", which the NVIDIA driver brings, cannot be loaded";
        return;
    }
    const auto init = function<int()>("nvmlInit_v2");
    started_ = init && init() == 0;
    if (!started_) {
        why = "none: NVML does not start";
        return;
    }
    const auto id = nvidia_id(identity);
    const auto by_id = function<int(const char*, Handle*)>(id.starts_with("GPU-") ? "nvmlDeviceGetHandleByUUID"
                                                                                  : "nvmlDeviceGetHandleByPciBusId_v2");
    if (!id.empty() && by_id && by_id(id.c_str(), &device_) == 0) return;
    device_ = nullptr;
    why = "none: NVML knows no device with " + (identity.empty() ? "an empty identity" : identity);
}

Nvml::~Nvml() {
    if (const auto shutdown = started_ ? function<int()>("nvmlShutdown") : nullptr) shutdown();
    if (library_) dlclose(library_);
}

void* Nvml::address(const char* name) const { return dlsym(library_, name); }

}  // namespace cllab::device
