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

}  // namespace cllab::inspect
