// AMD's code object manager, the library inside AMD's own OpenCL runtime: compiles OpenCL C to GCN code objects and
// disassembles them, with no GPU. Loaded when first used: it brings all of LLVM with it, which every
// other command would pay for at its start.
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
    std::string log;    ///< the compiler's words; a sentence when the library itself refused
    bool timed_out = false;
};

/// Empty when the library can be used, else the sentence that says what is missing.
std::string comgr_missing();

/// "gfx900", "gfx90a" … as the library lists them; empty without the library.
std::vector<std::string> comgr_processors();

/// For a processor that the library's LLVM compiles for though the library does not list it (LLVM 15 knows RDNA 3): the
/// listed one whose device libraries serve it. Else empty.
std::string comgr_nearest(const std::string& processor);

/// "amd_comgr 2.4", and where it was loaded from; empty without the library.
std::string comgr_version();
std::filesystem::path comgr_file();

/// OpenCL C to a linked code object, by this program as `comgr-compile`, which is ended at the limit. `options` as for
/// clBuildProgram. Throws Error(environment) when the folder for temporary files cannot be written.
ComgrOutput comgr_compile(const std::string& source, const std::vector<std::string>& options,
                          const std::string& processor, std::chrono::milliseconds limit);

/// The process that comgr_compile starts: compiles what is in the folder, leaves code and log there, and gives its exit
/// status.
int comgr_main(const std::filesystem::path& folder, const std::string& processor);

/// Text in the manner of llvm-objdump, with addresses and encodings.
ComgrOutput comgr_disassemble(ByteSpan code_object, const std::string& processor);

}  // namespace cllab::inspect
