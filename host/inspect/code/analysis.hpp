// Everything that can be said of one program binary: text, facts, counts. The same for a binary that a driver returned
// and for one that an offline compiler made.
#pragma once

#include <string>

#include "inspect/binary/binary.hpp"
#include "inspect/code/counts.hpp"
#include "inspect/tools/disassemble.hpp"
#include "model/result.hpp"

namespace cllab::inspect {

struct Analysis {
    Kind kind = Kind::empty;
    model::CodeInfo info;
    Disassembly disassembly;
    std::vector<FunctionStats> counts;  ///< one a listing, in the same order; empty ones for what is not counted
    std::string summary;                ///< registers, memory, occupancy with its formula, counts and loops, for people
    std::string stats;                  ///< the content of stats.json, summary included
    /// The counts closest to the hardware: machine code before PTX. nullptr when nothing was counted.
    const FunctionStats* best() const;
};

/// Never throws for what is in `binary`.
Analysis analyse(ByteSpan binary, const std::string& entry, std::string_view build_log, const LaunchSize& launch,
                 const DisassembleOptions& options = {});

/// The content of isa.txt.
std::string isa_text(const Analysis& analysis);

// Whether two kernels became the same machine code: a hash of it without what may differ between equal code.

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
}  // namespace cllab::inspect
