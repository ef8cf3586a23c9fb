// NVIDIA's NVML, loaded at run time: its C interface is stable and documented (NVML API reference), so that no header
// is needed at build.
#pragma once

#include <filesystem>
#include <string>

namespace cllab::device {

/// Where drivers and the system say what OpenCL does not.
struct Sources {
    std::string nvml = "libnvidia-ml.so.1";  ///< name or path for dlopen
    std::filesystem::path sysfs = "/sys";
};

/// What NVIDIA's tools call the device of this identity: "GPU-00112233-…" or its PCI address, wherever OpenCL lists it.
/// Empty where the identity is neither.
std::string nvidia_id(const std::string& identity);

/// The library, started, with one device.
class Nvml {
public:
    using Handle = void*;

    /// Where there is no such device, device() is empty and `why` says in a sentence what is missing.
    Nvml(const std::string& library, const std::string& identity, std::string& why);
    ~Nvml();
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;

    Handle device() const { return device_; }
    /// Null where this version has no such function.
    template <typename Signature>
    Signature* function(const char* name) const {
        return reinterpret_cast<Signature*>(address(name));
    }

private:
    void* address(const char* name) const;

    void* library_ = nullptr;
    Handle device_ = nullptr;
    bool started_ = false;
};

}  // namespace cllab::device
