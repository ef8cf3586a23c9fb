// The analysis of one program binary: text, facts, counts. The binary may come from a driver or an offline compiler.
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
    std::vector<FunctionStats> counts;  ///< one per listing, in the same order; empty if not counted
    std::string summary;                ///< registers, memory, occupancy with its formula, counts and loops, for people
    std::string stats;                  ///< the content of stats.json, summary included
    /// The counts closest to the hardware: machine code before PTX. nullptr if nothing was counted.
    const FunctionStats* best() const;
};

/// Never throws because of the contents of `binary`.
Analysis analyse(ByteSpan binary, const std::string& entry, std::string_view build_log, const LaunchSize& launch,
                 const DisassembleOptions& options = {});

/// The content of isa.txt.
std::string isa_text(const Analysis& analysis);

// Compares machine code by a hash that excludes what may differ between equal code.

/// SHA-256, in hexadecimal, of the code closest to the hardware in `analysis`: mnemonics, operands, branch distances,
/// and the constants next to the code. Excludes kernel names, addresses and displacements from the instruction pointer.
/// For PTX: a hash of the text of the kernel and of what it uses, because re-assembled code may differ from the
/// driver's. Empty if nothing was disassembled. Equal hashes mean the same code. Different hashes may still mean the
/// same work.
std::string fingerprint(const Analysis& analysis, ByteSpan binary, const std::string& entry);

/// The text that is hashed for one function; also for tests and for looking at a difference.
std::string normalised(const InstructionSet& set, const Function& function, const std::string& entry);
/// The same, followed by the texts of the functions in `text` that it calls by name, directly or indirectly: a kernel
/// may be only a call.
std::string normalised_with_callees(const InstructionSet& set, std::string_view text, const Function& function,
                                    const std::string& entry);

// Whether the machine code contains the work that a probe declares. A time proves nothing about a loop that the
// compiler turned into a closed form, although the outputs of such a loop are right.
//
// Every rule errs towards finding work: an instruction counts as all the elements that it could process, and code that
// cannot be followed is not judged. A probe is accused only if its operations are missing.
/// Maximum number of elements of `declared` that this instruction may process; 0 for none. A gather counts as 512 bits,
/// and any other access without a width as one element.
double elements_of(const InstructionSet& isa, const Instruction& instruction, const model::Declared& declared);

/// Elements of `declared` in the function that `stats` counted. `text` is its listing, for the functions that it calls.
/// `a_trip`: only instructions in loops count if all loops are known. nullopt if the number is unknown: no
/// instructions, calls to code outside the listing, accesses of unknown size, or an operation without an instruction in
/// this ISA.
std::optional<double> count_work(const FunctionStats& stats, const std::string& text, const model::Declared& declared,
                                 bool a_trip);

struct WorkCheck {
    bool counted = false;            ///< every declaration was counted in some listing
    std::vector<std::string> found;  ///< "float multiply-adds found 64 of the 64 declared (ptx)"
    std::string collapsed;           ///< the first of these with fewer than 95 %; empty: all found, or not counted
    std::string doubtful;            ///< the same for SASS that ptxas made here, which may differ from the code that
                                     ///< ran
};

/// Counts each declaration in each listing of the code.
WorkCheck check_work(const Analysis& analysis, const std::vector<model::Declared>& declared, bool a_trip);

// --- How often a block runs, from the declared work and the block's accesses -----------------------------------------

/// Bytes that one operation declares. stored: all of its outputs. moved: these and everything that it must read.
struct DeclaredBytes {
    double stored = 0, moved = 0;
};

/// nullopt if the operation stores to more than its outputs, or is more than one launch.
std::optional<DeclaredBytes> declared_bytes(const model::Setup& setup);
/// The same, also for buffers that are changed in place: all of their bytes count as read and stored. nullopt if the
/// sum, with each input read once, is not the declared number.
std::optional<DeclaredBytes> declared_in_place(const model::Setup& setup);

/// What one operation declares per work-item.
struct DeclaredPerItem {
    double stored = 0, loaded = 0;  ///< bytes; loaded: minimum
    double multiply_adds = 0;
};

/// Hot code without samples, for devices that cannot be sampled: the loop or the straight path that accounts for the
/// declared work of a work-item. After a whole number of passes its stores and multiply-adds equal the declared ones,
/// and its loads bring at least what must be read. Unknown if no loop or path accounts for the work, or if another part
/// does such work too; that part may be an alternative, such as a scalar loop for the edge of an image. Also unknown if
/// other code may take longer: another loop with an unknown trip count, or more instructions outside the loop than in
/// all its passes.
model::Hot account(const Analysis& analysis, const DeclaredPerItem& declared);
/// The same for the work that a set-up declares.
model::Hot account(const Analysis& analysis, const model::Setup& setup);

/// Executions of `block` in one operation. nullopt unless it alone accounts for the operation: it has at least nine
/// tenths of the samples, its stores make the outputs, and its loads bring at least what must be read.
std::optional<double> executions(const model::HotBlock& block, const DeclaredBytes& declared);
/// The least number of executed instructions if several blocks store the outputs: those of the block that executes the
/// fewest per stored byte, as if it stored all bytes. nullopt as executions(), or if a block stores an unknown number.
std::optional<double> least_instructions(const model::Hot& hot, const DeclaredBytes& declared);

}  // namespace cllab::inspect
