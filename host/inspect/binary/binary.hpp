// What CL_PROGRAM_BINARIES gave us, recognised by its bytes alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/binary/bounded_bytes.hpp"

namespace cllab::inspect {

enum class Kind {
    empty,
    unknown,
    ptx,
    cubin,
    amdgpu_code_object,
    catalyst_amdil,
    catalyst_hsail,
    intel_cpu,
    intel_gpu_patch_tokens,
    intel_gpu_zebin,
    ocloc_fat,
    poclbin,
    rusticl,
    clover,
    spirv,
    llvm_bitcode,
    apple_plist,
    host_elf,
};

/// Never throws and never reads outside `binary`, whatever the bytes are.
Kind recognise(std::span<const std::byte> binary);

const char* name(Kind kind);       ///< "ptx", "poclbin": the JSON key
const char* describe(Kind kind);   ///< "PTX (not SASS)": for people
const char* file_name(Kind kind);  ///< "program.ptx", "program.co", "program.poclbin", …; "program.bin" when unknown

/// One record of PoCL's container: header "poclbin\0", u64 device hash, u32 version, u32 kernels, u64 flags, then
/// records u32 length, path, u32 length, content (facts: PoCL 3.1 to 7.1).
struct PoclEntry {
    std::string path;  ///< "/vadd/4096-1-1-goffs0/vadd.so"
    std::span<const std::byte> content;
    bool loaded = false;  ///< not the container's: PoCL has it in this process
};
struct PoclContainer {
    std::uint32_t version = 0;
    std::vector<PoclEntry> entries;
    std::string folder;  ///< of the program in PoCL's cache: "AH/BHHF…"; empty where the header does not say
    /// What entries that are not the binary's lie in.
    std::vector<std::shared_ptr<const std::vector<std::byte>>> files;
    bool complete = false;  ///< false: damaged or truncated; entries holds what could be read
};
PoclContainer read_poclbin(std::span<const std::byte> binary);

/// What is missing of a binary that was cut short or damaged, in words that follow "it is damaged: "; empty: nothing
/// that its headers promise.
std::string damage_of(std::span<const std::byte> binary);

/// PTX without the trailing NULs that NVIDIA's driver appends and ptxas refuses.
std::string_view ptx_text(std::span<const std::byte> binary);

/// The kernels in a program binary, by their names alone, in the order of the binary, each once. Empty where the format
/// does not name them or is not read. Never throws.
std::vector<std::string> kernel_names(ByteSpan binary);

/// Functions and variables that a program for Intel's GPUs names and does not hold. Empty for any other binary. Never
/// throws.
std::vector<std::string> undefined_symbols(ByteSpan binary);

// Little-endian ELF32 and ELF64 read from memory: header, sections and symbols, nothing more. Layout after the
// System V gABI, chapters 4 and 5.
struct ElfSection {
    std::string_view name;
    std::uint32_t type = 0, link = 0, info = 0;
    std::uint64_t address = 0;
    ByteSpan data;  ///< empty for SHT_NOBITS and for a section that lies outside the file
};

struct ElfSymbol {
    std::string_view name;
    std::uint64_t value = 0, size = 0;  ///< value: virtual address, or offset in the section of a relocatable file
    std::size_t section = 0;            ///< index of the section that holds it; one of no section where it is in none
};

struct Elf {
    bool is64 = false;
    std::uint16_t type = 0, machine = 0;
    std::uint32_t flags = 0;
    std::uint64_t bytes = 0;  ///< that the file has if nothing is missing of what its headers name
    std::vector<ElfSection> sections;
    std::vector<ElfSymbol> symbols;  ///< of .symtab, else of .dynsym

    const ElfSection* section(std::string_view name) const;
    const ElfSymbol* symbol(std::string_view name) const;
};

/// Nothing when the header is not that of a little-endian ELF file. Sections and symbols that cannot be read are left
/// out, so a truncated file still tells its machine. The result points into `file`.
std::optional<Elf> read_elf(ByteSpan file);

}  // namespace cllab::inspect
