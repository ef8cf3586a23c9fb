// A binary as text, with whatever disassembler this machine has.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "inspect/binary/binary.hpp"
#include "inspect/binary/bounded_bytes.hpp"
#include "inspect/binary/cpu_code.hpp"

namespace cllab::inspect {

struct InstructionSet;

/// One text of isa.txt. Either `text` or `note` is filled: the note is a sentence that says why there is no text, and
/// which tool would make it.
struct Listing {
    std::string title;  ///< "PTX (not SASS)", "work-group function specialised for local size 64x4x1 (…)"
    const InstructionSet* isa = nullptr;  ///< nullptr: unknown
    std::string text, note;
    std::string function;  ///< name of the entry point inside the text
    std::string made_by;   ///< "llvm-objdump-15"; empty if the binary itself is text
    bool refused = false;  ///< every tool on this machine failed; `note` has their messages
};

/// A part of the binary that is kept as a separate file, such as the shared object in PoCL's container.
struct Part {
    std::string file;  ///< "program.so"
    std::string bytes;
};

struct DisassembleOptions {
    std::string target{};           ///< processor of the code, "sm_90"; empty: as the binary says
    std::string made_by{};          ///< compiler of a text that is not a driver's, for its label
    bool own_make = false;          ///< this process has just compiled the binary, so it is not damaged
    std::filesystem::path ptxas{};  ///< assembler of PTX; empty: the one on this machine
    std::string ran{};  ///< PoCL: path in the container of the shared object that was seen running; empty: unknown
    std::chrono::milliseconds tool_budget = std::chrono::seconds(30);  ///< limit of all tools together
};

struct Disassembly {
    std::vector<Listing> listings;
    std::vector<Part> parts;
    std::int64_t code_bytes = 0;  ///< size of the entry point's machine code; 0: unknown
    const char* code_bytes_from = "symbol table";
    std::string tool_log{};  ///< output of the tools, from which facts are read
};

/// Never throws because of the contents of `binary`: a damaged file, a missing tool and a failing tool all become
/// notes. Throws Error(environment) if a temporary file cannot be written.
Disassembly disassemble(Kind kind, ByteSpan binary, const std::string& entry, const LaunchSize& launch,
                        const DisassembleOptions& options = {});

/// Disassembles kernel `entry` of an AMDGPU code object. llvm-objdump does so in a separate process, because a damaged
/// file may crash a disassembler. With `own_make` (just compiled here) amd_comgr does so in this process, which is
/// faster.
Listing disassemble_code_object(ByteSpan elf, const std::string& entry, bool own_make = false);

}  // namespace cllab::inspect
