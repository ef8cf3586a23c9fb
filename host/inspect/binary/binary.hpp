// Recognizes what CL_PROGRAM_BINARIES returned, by its bytes alone.
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
const char* file_name(Kind kind);  ///< "program.ptx", "program.co", "program.poclbin", …; "program.bin" if unknown

/// One record of PoCL's container: header "poclbin\0", u64 device hash, u32 version, u32 kernels, u64 flags, then
/// records u32 length, path, u32 length, content (facts: PoCL 3.1 to 7.1).
struct PoclEntry {
    std::string path;  ///< "/vadd/4096-1-1-goffs0/vadd.so"
    std::span<const std::byte> content;
    bool loaded = false;  ///< not in the container: PoCL has loaded it into this process
};
struct PoclContainer {
    std::uint32_t version = 0;
    std::vector<PoclEntry> entries;
    std::string folder;  ///< of the program in PoCL's cache: "AH/BHHF…"; empty if the header does not have it
    /// Contents of the entries that are not in the binary.
    std::vector<std::shared_ptr<const std::vector<std::byte>>> files;
    bool complete = false;  ///< false: damaged or truncated; entries has what could be read
};
PoclContainer read_poclbin(std::span<const std::byte> binary);

/// What a truncated or damaged binary lacks, in words after "it is damaged: ". Empty if it has all that its headers
/// name.
std::string damage_of(std::span<const std::byte> binary);

/// PTX without the trailing NULs that NVIDIA's driver appends and ptxas rejects.
std::string_view ptx_text(std::span<const std::byte> binary);

/// The names of the kernels in a program binary, in its order, each once. Empty if the format has no names or is not
/// supported. Never throws.
std::vector<std::string> kernel_names(ByteSpan binary);

/// Functions and variables that a program for Intel's GPUs uses but does not contain. Empty for any other binary. Never
/// throws.
std::vector<std::string> undefined_symbols(ByteSpan binary);

// Little-endian ELF32 and ELF64 read from memory: header, sections and symbols only. Layout after the System V gABI,
// chapters 4 and 5.
struct ElfSection {
    std::string_view name;
    std::uint32_t type = 0, link = 0, info = 0;
    std::uint64_t address = 0;
    ByteSpan data;  ///< empty for SHT_NOBITS and for a section outside the file
};

struct ElfSymbol {
    std::string_view name;
    std::uint64_t value = 0, size = 0;  ///< value: virtual address, or offset in the section of a relocatable file
    std::size_t section = 0;            ///< index of its section; no section's index if it is in none
};

struct Elf {
    bool is64 = false;
    std::uint16_t type = 0, machine = 0;
    std::uint32_t flags = 0;
    std::uint64_t bytes = 0;  ///< size of the file if it is complete, by its headers
    std::vector<ElfSection> sections;
    std::vector<ElfSymbol> symbols;  ///< of .symtab, otherwise of .dynsym

    const ElfSection* section(std::string_view name) const;
    const ElfSymbol* symbol(std::string_view name) const;
};

/// nullopt without the header of a little-endian ELF file. Omits sections and symbols that cannot be read, so a
/// truncated file still has its machine. The result points into `file`.
std::optional<Elf> read_elf(ByteSpan file);

}  // namespace cllab::inspect
