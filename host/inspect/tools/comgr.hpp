// AMD's code object manager, the library inside AMD's own OpenCL runtime. It compiles OpenCL C to GCN code objects and
// disassembles them, without a GPU. It is loaded at its first use: it loads all of LLVM, which would slow down the
// start of every other command.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "inspect/binary/bounded_bytes.hpp"

namespace cllab::inspect {

struct ComgrOutput {
    bool ok = false;
    std::string bytes;  ///< the code object, or the text of a disassembly
    std::string log;    ///< the compiler's messages; a sentence if the library itself failed
    bool timed_out = false;
};

/// Empty if the library can be used, otherwise a sentence that says what is missing.
std::string comgr_missing();

/// "gfx900", "gfx90a" … as the library lists them; empty without the library.
std::vector<std::string> comgr_processors();

/// For a processor that the library's LLVM can compile for but the library does not list (LLVM 15 knows RDNA 3): the
/// listed processor whose device libraries are used. Empty for other processors.
std::string comgr_nearest(const std::string& processor);

/// "amd_comgr 2.4", and the file that it was loaded from; empty without the library.
std::string comgr_version();
std::filesystem::path comgr_file();

/// Compiles OpenCL C to a linked code object in a child process, this program as `comgr-compile`, which is stopped at
/// the limit. `options` as for clBuildProgram. Throws Error(environment) if the folder for temporary files cannot be
/// written.
ComgrOutput comgr_compile(const std::string& source, const std::vector<std::string>& options,
                          const std::string& processor, std::chrono::milliseconds limit);

/// The child process of comgr_compile: compiles the source in the folder, writes code and log there, and returns its
/// exit status.
int comgr_main(const std::filesystem::path& folder, const std::string& processor);

/// Text like that of llvm-objdump, with addresses and encodings.
ComgrOutput comgr_disassemble(ByteSpan code_object, const std::string& processor);

}  // namespace cllab::inspect
