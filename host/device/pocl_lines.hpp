// Line information of the code that PoCL runs. PoCL launches a function of its own, into which the kernel is inlined
// with the lines of its instructions. But the debug information names only the kernel, and LLVM writes lines only for
// functions that it names. So this file names PoCL's function before PoCL's LLVM makes machine code of it.
#pragma once

namespace cllab::device {

/// While an object exists, builds with line_option() have lines in PoCL. The object sets
/// POCL_LEAVE_KERNEL_COMPILER_TEMP_FILES, which PoCL reads at each build. PoCL then writes a kernel's LLVM code to a
/// file before it makes machine code. For that it calls a function of libLLVM, which this program replaces
/// (`export-dynamic-symbol` in CMakeLists.txt). The replacement calls libLLVM's. If PoCL contains LLVM itself, nothing
/// changes, and there are no lines.
class LinesOfPocl {
public:
    LinesOfPocl();
    ~LinesOfPocl();
    LinesOfPocl(const LinesOfPocl&) = delete;
    LinesOfPocl& operator=(const LinesOfPocl&) = delete;

private:
    bool is_users_;  ///< the user has set the variable
};

}  // namespace cllab::device
