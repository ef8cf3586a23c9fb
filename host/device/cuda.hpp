// OpenCL C compiled as CUDA C++ by NVRTC, and its PTX adapted to NVIDIA's OpenCL. NVRTC is loaded when first needed, so
// building the lab requires nothing of CUDA.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cllab::device {

/// Splits build options into words. Quoted text stays together: `-D "TYPE=unsigned int"`.
std::vector<std::string> words_of(const std::string& options);
/// True if the options contain `-x cuda`: compile the text as CUDA C++.
bool asks_for_cuda(const std::string& options);

/// Converts OpenCL C to CUDA C++. Puts cl/include/cuda_vectors.h and cuda.h in front, renames the qualifiers of kernels
/// and local arrays, and turns vector literals into calls.
std::string cuda_text(const std::string& source);

/// NVRTC's options for the options of clBuildProgram. `sm`: compute capability, 10 major + minor. Contraction is off
/// only if the text says so and no option allows it. Division and square root are correctly rounded only if the OpenCL
/// option requests it. Throws Unsupported for an option without an equivalent in NVRTC.
std::vector<std::string> nvrtc_options(const std::string& options, const std::string& source, int sm);

/// Adds the limit of the option -cl-nv-maxrregcount=N, if present, to each kernel as a directive. PTX does not carry
/// NVRTC's own option.
std::string with_register_limit(const std::string& ptx, const std::string& options);

/// Names of the kernels in a PTX module.
std::vector<std::string> entries_in(const std::string& ptx);
/// Text to append to the kernels. The compiled module then tells pointers_in() which parameters are pointers.
std::string questions_about(const std::vector<std::string>& entries);
/// By kernel: bit i is set if parameter i is a pointer.
std::map<std::string, std::uint64_t> pointers_in(const std::string& ptx);

/// Marks the pointers in the module, because OpenCL's runtime accepts buffers only for marked ones. CUDA leaves
/// pointers plain 64-bit numbers.
std::string with_pointers(const std::string& ptx, const std::map<std::string, std::uint64_t>& pointers);

/// Marks an instruction in inline assembly that sm_90a has and sm_90 lacks. NVIDIA's driver compiles OpenCL C only for
/// sm_90, where the marked line is a PTX comment. But it accepts PTX for sm_90a as a binary.
inline constexpr std::string_view sm_90a_mark = "//sm_90a: ";
/// The module for sm_90a with the marked instructions enabled; empty if it has none.
std::string with_sm_90a(std::string_view ptx);

struct CudaBuild {
    bool ok = false;
    std::string ptx;  ///< accepted by NVIDIA's OpenCL as a binary
    std::string log;  ///< the compiler's messages
};

/// A sentence that says how to get libnvrtc; empty if it is installed.
std::string nvrtc_missing();

/// Compiles OpenCL C as CUDA C++. `sm`: compute capability, 10 major + minor. A failed build does not throw: ok is
/// false. Throws Unsupported if NVRTC is missing, and as nvrtc_options().
CudaBuild compile_cuda(const std::string& source, const std::string& options, int sm);

}  // namespace cllab::device
