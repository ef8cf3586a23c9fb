#include "inspect/binary/elf.hpp"

#include <algorithm>
#include <limits>

namespace cllab::inspect {
namespace {

constexpr std::uint32_t sht_symtab = 2, sht_nobits = 8, sht_dynsym = 11;
constexpr std::size_t most_symbols = 1u << 20;  // a damaged size must not make us allocate without end

/// Name at `offset` of a string table, up to its NUL; empty when it starts outside or has no end.
std::string_view string_at(ByteSpan table, std::uint64_t offset) {
    const std::string_view text = as_text(table);
    if (offset >= text.size()) return {};
    const auto end = text.find('\0', static_cast<std::size_t>(offset));
    if (end == std::string_view::npos) return {};
    return text.substr(static_cast<std::size_t>(offset), end - static_cast<std::size_t>(offset));
}

/// A number of 8 bytes in a 64-bit file and of 4 in a 32-bit one, which lies at a place of its own in each.
std::uint64_t word(const Elf& elf, ByteSpan bytes, std::uint64_t at64, std::uint64_t at32) {
    return elf.is64 ? *load<std::uint64_t>(bytes, at64) : *load<std::uint32_t>(bytes, at32);
}

void read_sections(ByteSpan file, Elf& elf) {
    const std::uint64_t table =
        elf.is64 ? load<std::uint64_t>(file, 40).value_or(0) : load<std::uint32_t>(file, 32).value_or(0);
    const std::uint64_t tail = elf.is64 ? 58 : 46;
    const std::uint64_t entry = load<std::uint16_t>(file, tail).value_or(0);
    const std::uint64_t count = load<std::uint16_t>(file, tail + 2).value_or(0);
    const std::uint64_t names = load<std::uint16_t>(file, tail + 4).value_or(0);
    if (table == 0 || entry < (elf.is64 ? 64u : 40u)) return;

    const auto reaches = [&](std::uint64_t offset, std::uint64_t size) {
        constexpr auto most = std::numeric_limits<std::uint64_t>::max();
        elf.bytes = std::max(elf.bytes, size > most - offset ? most : offset + size);
    };
    reaches(table, count * entry);
    std::vector<std::uint32_t> name_offsets;
    for (std::uint64_t i = 0; i < count; ++i) {
        if (table > file.size() || i * entry > file.size()) break;
        const auto header = slice(file, table + i * entry, entry);
        if (!header) break;
        ElfSection section;
        name_offsets.push_back(*load<std::uint32_t>(*header, 0));
        section.type = *load<std::uint32_t>(*header, 4);
        section.address = word(elf, *header, 16, 12);
        section.link = *load<std::uint32_t>(*header, elf.is64 ? 40 : 24);
        section.info = *load<std::uint32_t>(*header, elf.is64 ? 44 : 28);
        const auto offset = word(elf, *header, 24, 16), size = word(elf, *header, 32, 20);
        if (section.type != sht_nobits) reaches(offset, size);
        if (section.type != sht_nobits) section.data = slice(file, offset, size).value_or(ByteSpan{});
        elf.sections.push_back(section);
    }
    if (names >= elf.sections.size()) return;
    const ByteSpan strings = elf.sections[static_cast<std::size_t>(names)].data;
    for (std::size_t i = 0; i < elf.sections.size(); ++i) elf.sections[i].name = string_at(strings, name_offsets[i]);
}

void read_symbols(Elf& elf) {
    const auto of_type = [&](std::uint32_t type) {
        return std::ranges::find_if(elf.sections,
                                    [&](const ElfSection& s) { return s.type == type && !s.data.empty(); });
    };
    auto table = of_type(sht_symtab);
    if (table == elf.sections.end()) table = of_type(sht_dynsym);
    if (table == elf.sections.end() || table->link >= elf.sections.size()) return;
    const ByteSpan strings = elf.sections[table->link].data;
    const std::size_t entry = elf.is64 ? 24 : 16;
    const std::size_t count = std::min(table->data.size() / entry, most_symbols);
    for (std::size_t i = 0; i < count; ++i) {
        const ByteSpan raw = table->data.subspan(i * entry, entry);
        ElfSymbol symbol;
        symbol.name = string_at(strings, *load<std::uint32_t>(raw, 0));
        symbol.value = word(elf, raw, 8, 4);
        symbol.size = word(elf, raw, 16, 8);
        symbol.section = *load<std::uint16_t>(raw, elf.is64 ? 6 : 14);
        elf.symbols.push_back(symbol);
    }
}

template <typename Named>
const Named* named_in(const std::vector<Named>& list, std::string_view name) {
    const auto found = std::ranges::find(list, name, &Named::name);
    return found == list.end() ? nullptr : &*found;
}

}  // namespace

const ElfSection* Elf::section(std::string_view name) const { return named_in(sections, name); }

const ElfSymbol* Elf::symbol(std::string_view name) const { return named_in(symbols, name); }

bool has_elf_magic(ByteSpan file) { return load<std::uint32_t>(file, 0) == 0x464c457fu; }

std::optional<Elf> read_elf(ByteSpan file) {
    if (!has_elf_magic(file)) return std::nullopt;
    const auto file_class = load<std::uint8_t>(file, 4), order = load<std::uint8_t>(file, 5);
    if (!order || *order != 1 || (*file_class != 1 && *file_class != 2)) return std::nullopt;
    Elf elf;
    elf.is64 = *file_class == 2;
    if (file.size() < (elf.is64 ? 64u : 52u)) return std::nullopt;
    elf.type = *load<std::uint16_t>(file, 16);
    elf.machine = *load<std::uint16_t>(file, 18);
    elf.flags = *load<std::uint32_t>(file, elf.is64 ? 48 : 36);
    read_sections(file, elf);
    read_symbols(elf);
    return elf;
}

}  // namespace cllab::inspect
