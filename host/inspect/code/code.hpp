// Machine code as data: instructions with their flow, read from the text that a disassembler printed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace cllab::inspect
