// CUDA's run-time compiler, found when it is asked for: nothing of CUDA is needed to build the lab.
#pragma once

#include <string>

namespace cllab::device {

struct CudaBuild {
    bool ok = false;
    std::string ptx;  ///< as NVIDIA's OpenCL takes it for a binary
    std::string log;  ///< the compiler's own words
};

/// Where there is no libnvrtc, a sentence that says how to get it; empty where there is one.
std::string nvrtc_missing();

/// Compiles a text of OpenCL C as CUDA C++ for the compute capability 10 major + minor. A failed build is an answer.
/// Throws Unsupported where there is no NVRTC, and as nvrtc_options().
CudaBuild compile_cuda(const std::string& source, const std::string& options, int sm);

}  // namespace cllab::device
