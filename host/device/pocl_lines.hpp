// Line information of what PoCL runs. PoCL puts a function of its own around the kernel, which is what it launches. The
// kernel is inlined there with the lines of its instructions, but the debug information names only the kernel, and LLVM
// writes lines of functions that are named. So that function is named here, before PoCL's LLVM makes machine code of
// it.
#pragma once

namespace cllab::device {

/// While one lives, what PoCL builds with line_option() has lines. PoCL writes the LLVM code of a kernel to a file
/// before it makes machine code of it where POCL_LEAVE_KERNEL_COMPILER_TEMP_FILES says so, at each build. The function
/// that writes it is libLLVM's, and the one of this program comes in its place (`export-dynamic-symbol` in
/// CMakeLists.txt): it hands on to libLLVM's. Where PoCL has LLVM built in, nothing changes and there are no lines.
class LinesOfPocl {
public:
    LinesOfPocl();
    ~LinesOfPocl();
    LinesOfPocl(const LinesOfPocl&) = delete;
    LinesOfPocl& operator=(const LinesOfPocl&) = delete;

private:
    bool is_users_;  ///< the variable
};

}  // namespace cllab::device
