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

/// One text of isa.txt. Either `text` or `note` is filled: the note is the sentence that says why there is no text and
/// what would make it.
struct Listing {
    std::string title;  ///< "PTX (not SASS)", "work-group function specialised for local size 64x4x1 (…)"
    const InstructionSet* isa = nullptr;  ///< nullptr: none that the lab knows
    std::string text, note;
    std::string function;  ///< name of the entry point inside the text
    std::string made_by;   ///< "llvm-objdump-15"; empty when the binary itself is text
    bool refused = false;  ///< every tool that was there failed; `note` has their words
};

/// A part of the binary worth keeping as a file of its own: the shared object out of PoCL's container, for example.
struct Part {
    std::string file;  ///< "program.so"
    std::string bytes;
};

struct DisassembleOptions {
    std::string target{};           ///< processor the code is for, "sm_90"; empty: what the binary says
    std::string made_by{};          ///< what made text that did not come from a driver, for its label
    bool own_make = false;          ///< the binary was compiled in this process just now, so it is not damaged
    std::filesystem::path ptxas{};  ///< that assembles PTX; empty: the one that is here
    std::string ran{};  ///< PoCL: path in the container of the shared object that was seen running; empty: not known
    std::chrono::milliseconds tool_budget = std::chrono::seconds(30);  ///< of all tools together
};

struct Disassembly {
    std::vector<Listing> listings;
    std::vector<Part> parts;
    std::int64_t code_bytes = 0;  ///< size of the entry point's machine code; 0 when unknown
    const char* code_bytes_from = "symbol table";
    std::string tool_log{};  ///< what the tools said meanwhile, for the facts
};

/// Never throws for what is in `binary`: a damaged file, a missing tool and a failing tool all become notes.
/// Throws Error(environment) when a temporary file cannot be written.
Disassembly disassemble(Kind kind, ByteSpan binary, const std::string& entry, const LaunchSize& launch,
                        const DisassembleOptions& options = {});

/// Disassembly of an AMDGPU code object, cut to kernel `entry`. By llvm-objdump in a process of its own, for a damaged
/// file may bring a disassembler down; `own_make` (just compiled here) goes to amd_comgr in this process, which is
/// faster.
Listing disassemble_code_object(ByteSpan elf, const std::string& entry, bool own_make = false);

}  // namespace cllab::inspect
