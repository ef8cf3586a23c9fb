// Whether two kernels became the same machine code: a hash of it without what may differ between equal code.
#pragma once

#include <string>
#include <string_view>

#include "inspect/code/analysis.hpp"

namespace cllab::inspect {

/// SHA-256, in hexadecimal, of the code that `analysis` shows as closest to the hardware: mnemonics and operands,
/// branches by how far they go, and the constants beside the code. Kernel names, addresses and displacements from the
/// instruction pointer are left out. PTX is hashed as text of the kernel and of what it uses, because what is
/// re-assembled from it may differ from the driver's. Empty where nothing was disassembled. Equal hashes: the same
/// code. Different ones may still be the same work.
std::string fingerprint(const Analysis& analysis, ByteSpan binary, const std::string& entry);

/// The text that is hashed for one function; for tests and for looking at a difference.
std::string normalised(const InstructionSet& set, const Function& function, const std::string& entry);
/// The same followed by that of each function of `text` that it calls by name, and so on: a kernel may be no more than
/// a call.
std::string normalised_with_callees(const InstructionSet& set, std::string_view text, const Function& function,
                                    const std::string& entry);
/// The same of a kernel in PTX with what it uses of its program (kernel_of_ptx), without the kernel's name.
std::string normalised_ptx(std::string_view text, const std::string& entry);

}  // namespace cllab::inspect
