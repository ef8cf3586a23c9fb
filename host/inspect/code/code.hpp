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
    next,    ///< continues with the next instruction (also calls, because they return)
    branch,  ///< may jump to `targets` or continue
    jump,    ///< jumps to `targets`
    stop,    ///< ends the function
};

struct Instruction {
    std::uint64_t address = 0;  ///< byte address; for PTX, which has none, the number of the statement
    std::uint32_t bytes = 0;    ///< encoded size; 0 for PTX
    std::string mnemonic;       ///< "v_add_u32_e32", "LDG.E.128", "ld.global.v4.f32"
    std::string operands;       ///< "v3, 1, v3"
    std::string guard;          ///< predicate of SASS and PTX, "@!P0"; empty otherwise
    bool locked = false;        ///< x86: with a lock prefix
    bool stack = false;         ///< x86: its memory operand is on the stack, addressed from rsp or a frame pointer
    double share = 1;           ///< Intel GPUs: part of the work-items that it is for; 0.5 for 16 of SIMD32
    Flow flow = Flow::next;
    std::vector<std::uint64_t> targets;  ///< addresses; empty for an indirect branch that the text does not resolve
    std::string text;                    ///< the line, trimmed, without address and encoding
};

struct Function {
    std::string name;
    std::vector<Instruction> instructions;
};

// --- Classes ---------------------------------------------------------------------------------------------------------

/// Classification of one instruction, for counting.
struct Class {
    std::string name;                   ///< exactly one per instruction: "v_alu", "vector_256", "fp32" …
    std::vector<std::string> memory{};  ///< accesses it makes, "global_load_128", "store_8"; read-modify-write has two
    std::vector<const char*> marks{};   ///< keys of InstructionSet::marks that it counts for
    unsigned work = 1;                  ///< weight in the choice of the shown loop
};

// --- Two instruction sequences side by side, aligned -----------------------------------------------------------------

struct DiffLine {
    /// ' ' the same text, '~' the same mnemonic with other operands, '<' only left, '>' only right.
    char mark = ' ';
    std::string left, right;
};

/// Minimum-cost alignment (Needleman and Wunsch 1970): equal text costs 0, equal mnemonics 1, an unpaired line 2.
/// Different mnemonics are never paired. Sequences are cut after 3000 instructions; the last line says so.
std::vector<DiffLine> align(const std::vector<Instruction>& left, const std::vector<Instruction>& right);

// --- Helpers of the parsers ------------------------------------------------------------------------------------------

std::vector<std::string_view> lines_of(std::string_view text);
/// "@P0 BRA target": the guard, the mnemonic and the operands of one instruction.
Instruction instruction_of(std::string text);
/// The functions of a listing, read line by line. `name_of` returns the name of the function that a line begins, and an
/// empty text for any other line. `read` returns the instruction on a line. Lines before the first function are
/// skipped.
std::vector<Function> functions_of(std::string_view text,
                                   const std::function<std::string_view(std::string_view line)>& name_of,
                                   const std::function<std::optional<Instruction>(std::string_view line)>& read);
/// The decimal number at `at`; 0 if there is none.
std::uint64_t number_at(std::string_view text, std::size_t at);
/// The number if the text has only decimal digits.
std::optional<unsigned> whole_number(std::string_view text);
/// The hexadecimal number at the start of `text`, with or without 0x.
std::optional<std::uint64_t> leading_hex(std::string_view text);
/// The address before an instruction in objdump's text, " 1160:"; nullopt for any other line.
std::optional<std::uint64_t> listed_address(std::string_view line);
/// The function named in the last brackets, "foo" of "call 0x1000 <foo>" and of "jmp 0x1020 <foo+0x20>"; empty if there
/// is none.
std::string_view named_target(std::string_view text);
/// The function that an entry of the linker's table calls: "foo" of "foo@plt", and of "foo".
std::string_view behind_plt(std::string_view name);
/// "name" of "0000000000001160 <name>:", empty for any other line. GNU and LLVM print the same header.
std::string_view function_header(std::string_view line);
/// The lines of `function` and of every function that it calls, in an objdump-style listing, in its order. The whole
/// listing if the function is missing.
std::string cut_function(const std::string& listing, const std::string& function);

/// The .text.<function> section of nvdisasm's listing, or the "Function : <function>" block of cuobjdump's. The whole
/// listing if the function is missing.
std::string cut_sass(const std::string& listing, const std::string& function);

// Control-flow graph of a function and its natural loops (Aho, Lam, Sethi and Ullman, 9.6; dominators after Cooper,
// Harvey and Kennedy 2001).
struct Block {
    std::size_t first = 0, end = 0;  ///< instructions [first, end)
    std::vector<std::size_t> successors;
    std::vector<std::size_t> loops{};  ///< loops around it, outermost first
};

struct Loop {
    std::size_t header = 0;           ///< block
    std::vector<std::size_t> blocks;  ///< ascending, including those of inner loops
    int parent = -1;                  ///< index of the loop around this one
    unsigned depth = 1;               ///< 1 is outermost
};

struct FlowGraph {
    std::vector<Block> blocks;
    std::vector<std::size_t> reached;  ///< blocks reachable from the first, ascending
    std::vector<Loop> loops;           ///< by address of the header, outer before inner
    unsigned irreducible_edges = 0;  ///< jumps back into the middle of a cycle: loops with two entries, not in `loops`
};

/// Only code that is reachable from the first instruction forms loops, so the padding after a kernel never does.
FlowGraph analyse_flow(const Function& function);

// Instruction counts of a function and of each of its loops.
struct InstructionSet;

struct Counts {
    unsigned instructions = 0;  ///< without padding
    std::uint64_t bytes = 0;
    std::map<std::string, unsigned> classes, memory;
    std::map<std::string, unsigned> mnemonics;
    std::map<std::string, unsigned> marks;  ///< by InstructionSet::marks: "v", "s", "reuse"
    unsigned work = 0;                      ///< sum of Class::work
    unsigned mark(const std::string& key) const;
    void add(const InstructionSet& isa, const Instruction& instruction);
};

/// Whether both access memory alike, and at most one of 20 instructions has another mnemonic. Copies of a loop that a
/// compiler unrolled or split do.
bool nearly_same(const Counts& a, const Counts& b);

/// A block with the counts of its instructions and the loops around it, without its share of the time.
model::HotBlock counted_block(const InstructionSet& isa, const Function& function, const FlowGraph& graph,
                              const Block& block);
/// The address after the instruction. If its length is unknown, only its first byte counts: samples have addresses of
/// first bytes.
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
    Counts own{};                     ///< one iteration, without inner loops
    std::vector<std::size_t> body{};  ///< indices of these instructions, in order
};

struct FunctionStats {
    const InstructionSet* isa = nullptr;  ///< nullptr: the listing is not counted
    Function code;
    Counts total;
    std::vector<LoopStats> loops;
    /// The loop shown if there is room for one: the innermost loop whose iteration does the most work. Work is the
    /// number of instructions; an x86 instruction counts once per 128 bits of its widest register. -1 without loops.
    /// The choice follows from the code alone; which loop takes the time is not known here.
    int shown = -1;
    unsigned irreducible_edges = 0;
};

/// Counts of function `entry` of a listing, or of the first function if none has this name. Empty if the instruction
/// set is not counted or the text has no instruction.
FunctionStats count_function(const InstructionSet* isa, std::string_view text, const std::string& entry);

nlohmann::json to_json(const FunctionStats& stats);

/// Indices of the loops in groups. Innermost loops of one loop that are nearly the same are one group, the shown loop
/// first; every other loop is alone.
std::vector<std::vector<std::size_t>> loop_groups(const FunctionStats& stats);

/// "k: 60 instructions, 272 bytes; v 20, s 30", then one line per loop, indented by its depth. Inner loops that are
/// nearly the same share a line.
std::string summary(const FunctionStats& stats);

/// "innermost loop at 0x1a68": the shown loop; "whole kernel (no loop)" without one.
std::string shown_place(const FunctionStats& stats);

/// "11 instructions, v 5, s 4: s_alu 2, v_alu 5 …": counts in one line.
std::string one_line_counts(const InstructionSet& isa, const Counts& counts);

}  // namespace cllab::inspect
