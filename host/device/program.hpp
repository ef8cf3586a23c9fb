// Kernel text to program, and program to bytes.
#pragma once

#include <string>
#include <vector>

#include "device/session.hpp"

namespace cllab::device {

struct Built {
    cl::Program program;
    bool ok = false;
    cl_int code = 0;     ///< of clBuildProgram
    std::string log;     ///< the driver's own words
    double seconds = 0;  ///< host clock, compile caches of the driver included
};

/// Compiles and links for this session's device; with the option `-x cuda` by NVRTC, as CUDA C++. A failed build is an
/// answer, not an exception. Throws Unsupported where there is no NVRTC.
Built build(Session& session, const std::string& source, const std::string& options);

/// What the driver calls the kernel that the text calls `written`.
std::string kernel_name(const Session& session, const Built& built, const std::string& written);

/// CL_PROGRAM_BINARIES of the session's device after a successful build: sizes first, exact parameter sizes, own
/// pointers, never NULL. Empty when the driver has none. Throws cl::Error when the driver refuses.
std::vector<std::byte> program_binary(const Built& built);

}  // namespace cllab::device
