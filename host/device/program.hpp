// Kernel text to program, program to bytes, and what its kernels want to be given.
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
    cl_int code = 0;     ///< of clBuildProgram
    std::string log;     ///< the driver's own words
    double seconds = 0;  ///< host clock, compile caches of the driver included
};

/// Compiles and links for this session's device; with the option `-x cuda` by NVRTC, as CUDA C++. The source may be a
/// compiled program (core/kernel_text.hpp). A failed build is an answer, not an exception. Throws Unsupported where
/// there is no NVRTC, and for SPIR-V where the driver takes none.
Built build(Session& session, const std::string& source, const std::string& options);

/// What the driver calls the kernel that the text calls `written`.
std::string kernel_name(const Session& session, const Built& built, const std::string& written);

/// The kernels of a text and their parameters, by clGetKernelArgInfo in a build of its own: never the one that is
/// timed, but on PoCL (option_of_users_kernels). Builds `text` with `options` and -cl-kernel-arg-info, without its
/// bodies where it is in order and still does not build. Sizes of types that the language does not define are asked of
/// the device, by a kernel behind the text that writes them. A failed build is an answer, not an exception.
model::Introspection introspect(Session& session, const std::string& text, const std::string& options);

/// CL_PROGRAM_BINARIES of the session's device after a successful build: sizes first, exact parameter sizes, own
/// pointers, never NULL. Empty when the driver has none. Throws cl::Error when the driver refuses.
std::vector<std::byte> program_binary(const Built& built);

/// Bytes of programs, by what identifies text and options.
using ProgramBytes = std::map<std::string, std::vector<std::byte>>;

/// Programs that another process on the same device has built already, as bytes.
///
/// An arrangement of a comparison is a fresh process, and what it does before its first sample is time without
/// evidence. Most of it were the builds: PoCL 3.1 takes 35 ms or more, 50 to 90 on a busy machine, for each text that
/// its cache knows, because clang starts and the bitcode is read; from the bytes that it gave for that very program it
/// takes 1 ms, and loads the same machine code.
class KnownPrograms {
public:
    /// Text with which options; empty for one that includes files, which may change.
    static std::string key_of(const std::string& source, const std::string& options);
    /// Whether the driver is known to be the faster for it.
    static bool pay(const model::Device& device);

    /// From now on what is built from text is kept for made().
    void keep() { keeps_ = true; }
    void add(const ProgramBytes& known) { known_.insert(known.begin(), known.end()); }
    /// The bytes of a program; nothing where they are not known, or were refused.
    const std::vector<std::byte>* find(const std::string& key) const;
    void refused(const std::string& key) { known_.erase(key); }
    void built(const std::string& key, const cl::Program& program);
    /// The bytes of what was built() here since keep(), as they are now: PoCL adds the code of a local size when it
    /// first runs.
    ProgramBytes made() const;

private:
    bool keeps_ = false;
    ProgramBytes known_;
    std::map<std::string, cl::Program> made_;
};

// Whether a device's compiler has what the device's list of extensions promises.

class Session;

/// Whether a kernel that uses what `extension` adds to the language builds for the session's device. The answer of the
/// first call is kept. True for an extension without a trial here, which is believed.
bool keeps_promise(Session& session, const std::string& extension);

}  // namespace cllab::device
