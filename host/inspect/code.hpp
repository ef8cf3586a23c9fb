// Machine code as data: instructions with their flow, read from the text that a disassembler printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/disassemble.hpp"

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
    Flow flow = Flow::next;
    std::vector<std::uint64_t> targets;  ///< addresses; empty for an indirect branch that the text does not resolve
    std::string text;                    ///< the line, trimmed, without address and encoding
};

struct Function {
    std::string name;
    std::vector<Instruction> instructions;
};

/// Functions of a listing, in its order. Lines that are no instruction are skipped; never throws for odd text.
std::vector<Function> parse_listing(Isa isa, std::string_view text);
std::vector<Function> parse_x86(std::string_view text);   ///< objdump or llvm-objdump, Intel syntax
std::vector<Function> parse_gcn(std::string_view text);   ///< llvm-objdump or amd_comgr
std::vector<Function> parse_sass(std::string_view text);  ///< nvdisasm or cuobjdump
std::vector<Function> parse_ptx(std::string_view text);

// --- Classes
// -----------------------------------------------------------------------------------------------------------

/// What one instruction is, for counting.
struct Class {
    std::string name;                   ///< exactly one a instruction: "v_alu", "vector_256", "fp32" …
    std::vector<std::string> memory{};  ///< accesses it makes, "global_load_128", "store_8"; read-modify-write has two
    unsigned reuse = 0;                 ///< SASS operands marked .reuse
};

Class classify(Isa isa, const Instruction& instruction);
Class classify_x86(const Instruction& instruction);
Class classify_gcn(const Instruction& instruction);
Class classify_sass(const Instruction& instruction);
Class classify_ptx(const Instruction& instruction);

/// One sentence that says by what rule the classes of this ISA are told, printed beside every count.
const char* counting_rule(Isa isa);

// --- Helpers of the parsers
// --------------------------------------------------------------------------------------------

std::vector<std::string_view> lines_of(std::string_view text);
/// Hexadecimal with or without 0x at the start of `text`.
std::optional<std::uint64_t> leading_hex(std::string_view text);
/// "0000000000001160 <name>:" gives name, anything else nothing. GNU and LLVM print the same header.
std::string_view function_header(std::string_view line);

}  // namespace cllab::inspect
