// Builds programs from kernel text, reads their binaries and the parameters of their kernels.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "device/cl.hpp"
#include "model/device.hpp"
#include "model/kernel_signature.hpp"

namespace cllab::device {

class Session;

struct Built {
    cl::Program program;
    bool ok = false;
    cl_int code = 0;     ///< result of clBuildProgram
    std::string log;     ///< the driver's messages
    double seconds = 0;  ///< host clock, including the driver's compile caches
};

/// Compiles and links for this session's device. With the option `-x cuda`, NVRTC compiles the text as CUDA C++. The
/// source may be a compiled program (core/kernel_text.hpp). A failed build does not throw: ok is false. Throws
/// Unsupported if NVRTC is missing, and for SPIR-V if the driver does not accept it.
Built build(Session& session, const std::string& source, const std::string& options);

/// The driver's name for the kernel that the text calls `written`.
std::string kernel_name(const Session& session, const Built& built, const std::string& written);

/// The kernels of a text and their parameters, by clGetKernelArgInfo. Builds `text` with `options` and
/// -cl-kernel-arg-info. This is never the timed build, except on PoCL (option_of_users_kernels). If the build fails
/// without an error at a place in the text, builds the kernels without their bodies. Sizes of types that the text
/// defines come from a kernel that the device runs. A failed build does not throw: built is false.
model::Introspection introspect(Session& session, const std::string& text, const std::string& options);

/// CL_PROGRAM_BINARIES of the session's device after a successful build. Queries sizes first and passes exact sizes and
/// valid pointers, never NULL. Empty if the driver has no binary. Throws cl::Error if a query fails.
std::vector<std::byte> program_binary(const Built& built);

/// Binaries of programs, by key_of() text and options.
using ProgramBytes = std::map<std::string, std::vector<std::byte>>;

/// Binaries of programs that another process has built on the same device.
///
/// Each arrangement of a comparison is a fresh process, and the time before its first sample gives no evidence. Builds
/// took most of it. For a text in its cache, PoCL 3.1 takes 35 ms or more, because clang starts and reads bitcode (50
/// to 90 ms on a busy machine). From the bytes of the same program it takes 1 ms and loads the same machine code.
class KnownPrograms {
public:
    /// Hash of text and options; empty for a text that includes files, which may change.
    static std::string key_of(const std::string& source, const std::string& options);
    /// Whether the driver is known to be faster with binaries.
    static bool pay(const model::Device& device);

    /// From now on, keeps programs built from text for made().
    void keep() { keeps_ = true; }
    void add(const ProgramBytes& known) { known_.insert(known.begin(), known.end()); }
    /// The bytes of a program; nullptr if they are unknown or were rejected.
    const std::vector<std::byte>* find(const std::string& key) const;
    void refused(const std::string& key) { known_.erase(key); }
    void built(const std::string& key, const cl::Program& program);
    /// The current bytes of the programs built since keep(). PoCL adds the code of a local size when it first runs.
    ProgramBytes made() const;

private:
    bool keeps_ = false;
    ProgramBytes known_;
    std::map<std::string, cl::Program> made_;
};

// Checks whether a device's compiler supports the extensions that the device lists.

class Session;

/// Whether a kernel with the language features of `extension` builds for the session's device. Keeps the first answer.
/// True without a test for an extension that is not in the list of trials.
bool keeps_promise(Session& session, const std::string& extension);

}  // namespace cllab::device
