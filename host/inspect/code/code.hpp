// Machine code as data: instructions with their flow, read from the text that a disassembler printed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.hpp"

namespace cllab::inspect {

enum class Flow {
    next,    ///< goes on with the following instruction (also calls: they come back)
    branch,  ///< may go to `targets`, may go on
    jump,    ///< goes to `targets`
    stop,    ///< ends the function
};

struct Instruction {
    std::uint64_t address = 0;  ///< byte address; for PTX, which has none, the number of the statement
    std::uint32_t bytes = 0;    ///< encoded size; 0 for PTX
    std::string mnemonic;       ///< "v_add_u32_e32", "LDG.E.128", "ld.global.v4.f32"
    std::string operands;       ///< "v3, 1, v3"
    std::string guard;          ///< predicate of SASS and PTX, "@!P0"; empty otherwise
    bool locked = false;        ///< x86: behind a lock prefix
    bool stack = false;         ///< x86: its memory operand is on the stack, addressed from rsp or a frame pointer
    double share = 1;           ///< Intel GPUs: part of the work-items it is for, 16 of SIMD32 are 0.5
    Flow flow = Flow::next;
    std::vector<std::uint64_t> targets;  ///< addresses; empty for an indirect branch that the text does not resolve
    std::string text;                    ///< the line, trimmed, without address and encoding
};

struct Function {
    std::string name;
    std::vector<Instruction> instructions;
};

// --- Classes ---------------------------------------------------------------------------------------------------------

/// What one instruction is, for counting.
struct Class {
    std::string name;                   ///< exactly one a instruction: "v_alu", "vector_256", "fp32" …
    std::vector<std::string> memory{};  ///< accesses it makes, "global_load_128", "store_8"; read-modify-write has two
    std::vector<const char*> marks{};   ///< keys of InstructionSet::marks that it counts for
    unsigned work = 1;                  ///< weight in the choice of the loop that is shown
};

// --- Two instruction sequences side by side, aligned -----------------------------------------------------------------

struct DiffLine {
    /// ' ' the same text, '~' the same mnemonic with other operands, '<' only left, '>' only right.
    char mark = ' ';
    std::string left, right;
};

/// Least-cost alignment (Needleman and Wunsch 1970): equal text costs nothing, equal mnemonics 1, a line alone 2;
/// different mnemonics are never put beside each other. Sequences past 3000 instructions are cut, with a last line that
/// says so.
std::vector<DiffLine> align(const std::vector<Instruction>& left, const std::vector<Instruction>& right);

// --- Helpers of the parsers ------------------------------------------------------------------------------------------

std::vector<std::string_view> lines_of(std::string_view text);
/// "@P0 BRA target": the guard, the mnemonic and the operands of one instruction.
Instruction instruction_of(std::string text);
/// The functions of a listing, line by line: `name_of` gives the name of the function that a line begins, empty for
/// any other line; `read` gives the instruction on such a line. Lines before the first function are skipped.
std::vector<Function> functions_of(std::string_view text,
                                   const std::function<std::string_view(std::string_view line)>& name_of,
                                   const std::function<std::optional<Instruction>(std::string_view line)>& read);
/// The decimal number at a place of a text; 0 where there is none.
std::uint64_t number_at(std::string_view text, std::size_t at);
/// Decimal digits and nothing else.
std::optional<unsigned> whole_number(std::string_view text);
/// Hexadecimal with or without 0x at the start of `text`.
std::optional<std::uint64_t> leading_hex(std::string_view text);
/// The address in front of an instruction of objdump's, "    1160:"; nothing for any other line.
std::optional<std::uint64_t> listed_address(std::string_view line);
/// The function named in the last brackets, "foo" of "call 0x1000 <foo>" and of "jmp 0x1020 <foo+0x20>"; empty when
/// none is.
std::string_view named_target(std::string_view text);
/// The function that an entry of the linker's table leads to: "foo" of "foo@plt", and of "foo".
std::string_view behind_plt(std::string_view name);
/// "0000000000001160 <name>:" gives name, anything else nothing. GNU and LLVM print the same header.
std::string_view function_header(std::string_view line);
/// The lines of `function` in an objdump-style listing, and of every function it calls, in the listing's order. All
/// lines when the function is not there.
std::string cut_function(const std::string& listing, const std::string& function);

/// The .text.<function> section of a listing by nvdisasm, or the "Function : <function>" block of one by cuobjdump.
std::string cut_sass(const std::string& listing, const std::string& function);

// Control-flow graph of a function and its natural loops (Aho, Lam, Sethi and Ullman, 9.6; dominators after Cooper,
// Harvey and Kennedy 2001).
struct Block {
    std::size_t first = 0, end = 0;  ///< instructions [first, end)
    std::vector<std::size_t> successors;
    std::vector<std::size_t> loops{};  ///< around it, outermost first
};

struct Loop {
    std::size_t header = 0;           ///< block
    std::vector<std::size_t> blocks;  ///< ascending, with those of inner loops
    int parent = -1;                  ///< index of the loop around this one
    unsigned depth = 1;               ///< 1 is outermost
};

struct FlowGraph {
    std::vector<Block> blocks;
    std::vector<std::size_t> reached;  ///< blocks that the first leads to, ascending
    std::vector<Loop> loops;           ///< by address of the header, outer before inner
    unsigned irreducible_edges = 0;  ///< jumps back into the middle of a cycle: a loop with two entries, not in `loops`
};

/// Only code reachable from the first instruction makes loops, so the padding behind a kernel never does.
FlowGraph analyse_flow(const Function& function);

// Instruction counts of a function and of each of its loops.
struct InstructionSet;

struct Counts {
    unsigned instructions = 0;  ///< without padding
    std::uint64_t bytes = 0;
    std::map<std::string, unsigned> classes, memory;
    std::map<std::string, unsigned> marks;  ///< by InstructionSet::marks: "v", "s", "reuse"
    unsigned work = 0;                      ///< sum of Class::work
    unsigned mark(const std::string& key) const;
    void add(const InstructionSet& isa, const Instruction& instruction);
};

/// A block with the counts of its instructions and the loops around it; how hot it is, is not said.
model::HotBlock counted_block(const InstructionSet& isa, const Function& function, const FlowGraph& graph,
                              const Block& block);
/// Address behind instruction `i`. Where the text does not say how long it is, only its first byte is its own: samples
/// stand at first bytes.
std::uint64_t end_of(const Instruction& instruction);

/// "0x1a68" (PTX: "statement 17").
std::string address_text(const InstructionSet& isa, std::uint64_t address);
/// "vector_load 3, branch 1".
std::string listed(const std::map<std::string, unsigned>& counts);

struct LoopStats {
    std::string header;  ///< "0x1a68" (PTX: "statement 17")
    unsigned depth = 1;
    int parent = -1;
    bool innermost = true;
    Counts own{};                     ///< one iteration, without what inner loops do
    std::vector<std::size_t> body{};  ///< indices of those instructions, in order
};

struct FunctionStats {
    const InstructionSet* isa = nullptr;  ///< set where there is any instruction
    Function code;
    Counts total;
    std::vector<LoopStats> loops;
    /// The loop shown where there is room for one: of the innermost loops the one whose iteration does the most work.
    /// Work is the number of instructions; an x86 one counts once for each 128 bits of the widest register it names. -1
    /// without loops. That is its shape in the code; which loop the time goes to is not known here.
    int shown = -1;
    unsigned irreducible_edges = 0;
};

/// Counts of function `entry` of a listing, of the first function when it has no such name; of nothing when the
/// instruction set is not counted or the text has no instruction.
FunctionStats count_function(const InstructionSet* isa, std::string_view text, const std::string& entry);

nlohmann::json to_json(const FunctionStats& stats);

/// "k: 60 instructions, 272 bytes; v 20, s 30", then a line a loop, indented by its depth.
std::string summary(const FunctionStats& stats);

/// "innermost loop at 0x1a68": the one that is shown; "whole kernel (no loop)" without one.
std::string shown_place(const FunctionStats& stats);

/// "11 instructions, v 5, s 4: s_alu 2, v_alu 5 …": counts in one line.
std::string one_line_counts(const InstructionSet& isa, const Counts& counts);

}  // namespace cllab::inspect
