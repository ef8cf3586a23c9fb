// Little-endian ELF32 and ELF64 read from memory: header, sections and symbols, nothing more. Layout after the
// System V gABI, chapters 4 and 5.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "inspect/binary/bounded_bytes.hpp"

namespace cllab::inspect {

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

/// True when the first four bytes are the ELF magic number.
bool has_elf_magic(ByteSpan file);

/// Nothing when the header is not that of a little-endian ELF file. Sections and symbols that cannot be read are left
/// out, so a truncated file still tells its machine. The result points into `file`.
std::optional<Elf> read_elf(ByteSpan file);

}  // namespace cllab::inspect
