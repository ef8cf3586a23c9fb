// One kernel text in two languages: OpenCL C as CUDA C++ for NVRTC, and the PTX that comes out as NVIDIA's OpenCL takes
// it. NVRTC is found when it is asked for: nothing of CUDA is needed to build the lab.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cllab::device {

/// The words of build options. What stands in quotes is not divided: `-D "TYPE=unsigned int"`.
std::vector<std::string> words_of(const std::string& options);
/// They hold `-x cuda`: the text is to be compiled as CUDA C++.
bool asks_for_cuda(const std::string& options);

/// OpenCL C as CUDA C++: cl/include/cuda_vectors.h and cuda.h in front, kernels and local arrays by their names in
/// CUDA, vector literals as calls.
std::string cuda_text(const std::string& source);

/// The options of NVRTC that mean what those of clBuildProgram do, for the compute capability 10 major + minor.
/// Contraction is off where the text says so, division and square root are as exact as OpenCL asks for. Throws
/// Unsupported for an option that NVRTC has no word for.
std::vector<std::string> nvrtc_options(const std::string& options, const std::string& source, int sm);

/// The module with the option -cl-nv-maxrregcount=N, if it is there, as a directive of each kernel: PTX does not carry
/// NVRTC's own.
std::string with_register_limit(const std::string& ptx, const std::string& options);

/// The kernels in a PTX module.
std::vector<std::string> entries_in(const std::string& ptx);
/// Text to be put behind the kernels: the module then says which of their parameters are pointers, for pointers_in().
std::string questions_about(const std::vector<std::string>& entries);
/// Bit i of an entry: its parameter i is a pointer.
std::map<std::string, std::uint64_t> pointers_in(const std::string& ptx);

/// The module with pointers marked as OpenCL's runtime must know them to put buffers there (CUDA leaves them plain
/// 64-bit numbers).
std::string with_pointers(const std::string& ptx, const std::map<std::string, std::uint64_t>& pointers);

/// What stands in a text's inline assembly before an instruction that sm_90a has and sm_90 has not. NVIDIA's driver
/// compiles OpenCL C for sm_90 only, where such a line is a comment of PTX, but takes PTX for sm_90a as a binary.
inline constexpr std::string_view sm_90a_mark = "//sm_90a: ";
/// The module for sm_90a, with those instructions; empty where it has none.
std::string with_sm_90a(std::string_view ptx);

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
