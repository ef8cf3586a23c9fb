// Everything that can be said of one program binary: text, facts, counts. The same for a binary that a driver returned
// and for one that an offline compiler made.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/binary/binary.hpp"
#include "inspect/code/code.hpp"
#include "inspect/tools/disassemble.hpp"
#include "model/experiment.hpp"
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

// Whether the work that a probe declares stands in the machine code. A time proves nothing of a loop that the compiler
// turned into a closed form, and the outputs of such a loop are right.
//
// Every rule here errs towards finding work: an instruction counts as all the elements that it could handle, and code
// that cannot be followed is not judged. A probe is accused only when its operations are not there.
/// Elements of `declared` that this instruction may handle, 0 for none. At the most: an instruction whose lanes or
/// width the text leaves open counts as the widest.
double elements_of(const InstructionSet& isa, const Instruction& instruction, const model::Declared& declared);

/// Elements of `declared` in the function `stats` was counted in. `text` is its listing, for the functions it calls.
/// With `a_trip`, only instructions in loops count, where the loops are known. Nothing when it cannot be told: no
/// instructions, calls to code that is not in the listing, or an operation that this ISA has no instruction for.
std::optional<double> count_work(const FunctionStats& stats, const std::string& text, const model::Declared& declared,
                                 bool a_trip);

struct WorkCheck {
    bool counted = false;            ///< everything declared was counted in some listing
    std::vector<std::string> found;  ///< "float multiply-adds found 64 of the 64 declared (ptx)"
    std::string collapsed;           ///< the first of these with fewer than 95 %; empty: all there, or not counted
    std::string doubtful;            ///< the same in SASS that ptxas made here: not proven to be the code that runs
};

/// Counts each declaration in each listing of the code.
WorkCheck check_work(const Analysis& analysis, const std::vector<model::Declared>& declared, bool a_trip);

// --- Declared work against the accesses of a block: how often it runs, where both add up -----------------------------

/// What one operation declares, in bytes: stored is all of its outputs, moved is those and all that it must read.
struct DeclaredBytes {
    double stored = 0, moved = 0;
};

/// Nothing where not all that it stores is an output's, or where it is more than one launch.
std::optional<DeclaredBytes> declared_bytes(const model::Setup& setup);
/// The same, also where buffers are changed in place: all of them, if that adds up to what is declared, each input read
/// once.
std::optional<DeclaredBytes> declared_in_place(const model::Setup& setup);

/// What one operation declares, of one work-item.
struct DeclaredPerItem {
    double stored = 0, loaded = 0;  ///< bytes; loaded: at least
    double multiply_adds = 0;
};

/// Hot code without samples, for devices on which nothing can be sampled: the loop, or the straight path, whose stores
/// and multiply-adds come out as the declared ones of a work-item after a whole number of passes, and whose loads bring
/// at least what must be read. Unknown where none adds up, and where another part does such work too: it may be another
/// way to the same end, as a scalar loop for the edge of an image is. Unknown too where other code may take longer:
/// another loop, of which nobody knows how often it is passed, or more instructions in front of the loop than in all
/// its passes.
model::Hot account(const Analysis& analysis, const DeclaredPerItem& declared);
/// The same of what a set-up declares.
model::Hot account(const Analysis& analysis, const model::Setup& setup);

/// Executions of `block` in one operation. Nothing unless it alone can account for the operation: it has nine tenths of
/// the samples or more, its stores make the outputs, and its loads bring at least what must be read.
std::optional<double> executions(const model::HotBlock& block, const DeclaredBytes& declared);

}  // namespace cllab::inspect
