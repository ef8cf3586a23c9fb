#include "inspect/binary/binary.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "core/grouped.hpp"
#include "core/text.hpp"
#include "inspect/binary/nvidia.hpp"

namespace cllab::inspect {
namespace {

/// In the order of Kind.
struct KindText {
    const char *name, *describe, *file;
};

constexpr KindText kind_texts[]{
    {"empty", "nothing: the driver returned no binary", ""},
    {"unknown", "bytes of no kind this lab knows", "program.bin"},
    {"ptx", "PTX (not SASS)", "program.ptx"},
    {"cubin", "NVIDIA cubin (SASS in ELF)", "program.cubin"},
    {"amdgpu-code-object", "AMDGPU code object (ELF)", "program.co"},
    {"catalyst-amdil", "AMD Catalyst binary, OpenCL 1.2 format (BIF)", "program.bif"},
    {"catalyst-hsail", "AMD Catalyst binary, OpenCL 2.0 format (HSAIL BIF)", "program.hsail.bif"},
    {"intel-cpu", "Intel CPU runtime ELF (x86 object in .ocl.obj)", "program.intelcpu.elf"},
    {"intel-gpu-patch-tokens", "Intel GPU binary with patch tokens", "program.intelgpu.elf"},
    {"intel-gpu-zebin", "Intel GPU zebin (ELF)", "program.zebin"},
    {"ocloc-fat", "ocloc fat binary (ar archive, a member a device)", "program.ar"},
    {"poclbin", "PoCL container (LLVM bitcode and shared objects)", "program.poclbin"},
    {"rusticl", "rusticl program (SPIR-V behind a 12-byte header)", "program.rusticl"},
    {"clover", "Mesa clover module with an ELF inside", "program.clover"},
    {"spirv", "SPIR-V", "program.spv"},
    {"llvm-bitcode", "LLVM bitcode", "program.bc"},
    {"apple-plist", "Apple binary property list (undocumented)", "program.plist"},
    {"host-elf", "ELF file for the host processor", "program.elf"},
};

const KindText& text_of(Kind kind) { return kind_texts[static_cast<std::size_t>(kind)]; }

// e_machine values: the System V registry, CLRX (AMD Catalyst) and AMD's clr for the HSAIL pair.
constexpr std::uint16_t em_386 = 3, em_x86_64 = 62, em_arm = 40, em_aarch64 = 183, em_riscv = 243, em_ppc64 = 21,
                        em_loongarch = 258, em_cuda = 190, em_intelgt = 0xCD, em_amdgpu = 0xE0, em_hsail = 0xAF5A,
                        em_hsail64 = 0xAF5B;

bool is_host_machine(std::uint16_t machine) {
    constexpr std::array hosts{em_386, em_x86_64, em_arm, em_aarch64, em_riscv, em_ppc64, em_loongarch};
    return std::ranges::find(hosts, machine) != hosts.end();
}

/// Intel's CPU runtime and its GPU driver before 2026 share 0xff04: only the section names distinguish them.
Kind recognise_intel(const Elf& elf) {
    if (elf.section(".ocl.obj")) return Kind::intel_cpu;
    for (const auto& section : elf.sections)
        if (section.name == "Intel(R) OpenCL Device Binary" || section.type == 0xff000005u)
            return Kind::intel_gpu_patch_tokens;
    return Kind::unknown;
}

Kind recognise_elf(ByteSpan binary) {
    const auto elf = read_elf(binary);
    if (!elf) return Kind::unknown;
    if (elf->type == 0xff04) return recognise_intel(*elf);
    if (elf->machine == em_cuda) return Kind::cubin;
    if (elf->machine == em_amdgpu) return Kind::amdgpu_code_object;
    if (elf->machine == em_intelgt) return Kind::intel_gpu_zebin;
    if (elf->machine == em_hsail || elf->machine == em_hsail64)
        return elf->flags != 0 ? Kind::catalyst_hsail : Kind::unknown;
    if (elf->flags == 0 && elf->machine >= 0x3F1 && elf->machine <= 0x4FF) return Kind::catalyst_amdil;
    // Catalyst's CPU device wrote x86 code into the same container; an ordinary object has none of these sections.
    if (elf->machine == em_386 || elf->machine == em_x86_64)
        for (const char* section : {".llvmir", ".amdil", ".astext"})
            if (elf->section(section)) return Kind::catalyst_amdil;
    return is_host_machine(elf->machine) ? Kind::host_elf : Kind::unknown;
}

/// NVIDIA's driver returns text: comments, then `.version` and `.target sm_NN`.
bool is_ptx(ByteSpan binary) {
    const std::string_view text = ptx_text(binary);
    const std::string_view head = text.substr(0, 4096);
    const auto version = head.find(".version"), target = head.find(".target");
    if (version == std::string_view::npos || target == std::string_view::npos || target < version) return false;
    return std::ranges::all_of(head, [](unsigned char c) { return c >= 32 || c == '\n' || c == '\r' || c == '\t'; });
}

/// clover has no magic number of its own: Mesa's serialized module contains a whole ELF file. One tool saw Intel's CPU
/// ELF at offset 0x30 of an ahead-of-time file in the same way.
Kind recognise_embedded_elf(ByteSpan binary) {
    const std::string_view text = as_text(binary);
    constexpr std::string_view magic("\177ELF");
    for (auto at = text.find(magic, 1); at != std::string_view::npos; at = text.find(magic, at + 1)) {
        const auto elf = read_elf(binary.subspan(at));
        if (!elf) continue;
        if (elf->type == 0xff04) return recognise_intel(*elf);
        if (elf->machine == em_amdgpu || elf->machine == 0) return Kind::clover;
    }
    return Kind::unknown;
}

std::vector<std::string> of_ptx(std::string_view text) {
    std::vector<std::string> out;
    constexpr std::string_view word = ".entry ";
    for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
        if (auto name = ptx_function_name(text.substr(at + word.size())); !name.empty()) out.push_back(std::move(name));
    return out;
}

/// Names of an ELF file's sections or symbols that start with `front` and end with `behind`, without both.
template <typename Named>
std::vector<std::string> of_elf(ByteSpan binary, std::vector<Named> Elf::*list, std::string_view front,
                                std::string_view behind) {
    std::vector<std::string> out;
    const auto elf = read_elf(binary);
    const auto more = front.size() + behind.size();
    if (!elf) return out;
    for (const auto& named : (*elf).*list)
        if (named.name.size() > more && named.name.starts_with(front) && named.name.ends_with(behind))
            out.emplace_back(named.name.substr(front.size(), named.name.size() - more));
    return out;
}

std::vector<std::string> of_poclbin(ByteSpan binary) {
    std::vector<std::string> out;
    for (const auto& entry : read_poclbin(binary).entries) {
        const auto first = entry.path.find_first_not_of('/');
        const auto end = first == std::string::npos ? first : entry.path.find('/', first);
        if (end != std::string::npos && entry.path.ends_with(".so"))
            out.push_back(entry.path.substr(first, end - first));
    }
    return out;
}

/// OpEntryPoint of the kernel model: word count and opcode 15, model 6, an id, then the name.
std::vector<std::string> of_spirv(ByteSpan binary) {
    std::vector<std::string> out;
    const auto word = [&](std::size_t i) { return *load<std::uint32_t>(binary, 4 * i); };
    const auto words = binary.size() / 4;
    for (std::size_t at = 5; at < words;) {
        const auto count = word(at) >> 16;
        if (count == 0 || at + count > words) break;
        if ((word(at) & 0xffff) == 15 && count > 3 && word(at + 1) == 6) {
            const auto name = as_text(binary.subspan(4 * (at + 3), 4 * (count - 3)));
            out.emplace_back(name.substr(0, name.find('\0')));
        }
        at += count;
    }
    return out;
}

/// A kernel in Intel's patch tokens, with its list of tokens.
struct PatchedKernel {
    std::string_view name;
    ByteSpan patches;
};

constexpr std::string_view symbols_kernel = "Intel_Symbol_Table_Void_Program";  // the compiler's own, for addresses

std::string_view until_nul(std::string_view text) { return text.substr(0, text.find('\0')); }

/// Intel's patch tokens: a header of 28 bytes with the number of kernels, and its list. Each kernel follows with a
/// header of 40 bytes that has the lengths of its name and of the data after it. Found by compiling kernels of several
/// lengths (ocloc 22.43).
std::vector<PatchedKernel> patched_kernels(ByteSpan binary) {
    std::vector<PatchedKernel> out;
    const auto elf = read_elf(binary);
    const auto* section = elf ? elf->section("Intel(R) OpenCL Device Binary") : nullptr;
    const auto tokens = section ? section->data : binary;
    const auto word = [&](std::uint64_t at) { return std::uint64_t{load<std::uint32_t>(tokens, at).value_or(0)}; };
    auto at = 28 + word(24);
    for (auto left = word(16); left > 0 && at + 40 <= tokens.size(); --left) {
        const auto name = slice(tokens, at + 40, word(at + 12));
        if (!name) break;
        const auto heaps = word(at + 20) + word(at + 24) + word(at + 28) + word(at + 32);
        const auto patches = slice(tokens, at + 40 + name->size() + heaps, word(at + 16));
        out.push_back({until_nul(as_text(*name)), patches.value_or(ByteSpan{})});
        at += 40 + name->size() + heaps + word(at + 16);
    }
    return out;
}

std::vector<std::string> of_patch_tokens(ByteSpan binary) {
    std::vector<std::string> out;
    for (const auto& kernel : patched_kernels(binary))
        if (kernel.name != symbols_kernel) out.emplace_back(kernel.name);
    return out;
}

std::vector<std::string> all_names(ByteSpan binary) {
    switch (recognise(binary)) {
        case Kind::ptx:
            return of_ptx(ptx_text(binary));
        case Kind::cubin:
        case Kind::intel_gpu_zebin:
            return of_elf(binary, &Elf::sections, ".text.", "");
        case Kind::amdgpu_code_object:  // has a descriptor NAME.kd for each kernel
            return of_elf(binary, &Elf::symbols, "", ".kd");
        case Kind::intel_gpu_patch_tokens:
            return of_patch_tokens(binary);
        case Kind::poclbin:
            return of_poclbin(binary);
        case Kind::spirv:
            return of_spirv(binary);
        default:
            return {};
    }
}

/// True when the first four bytes are the ELF magic number.
bool has_elf_magic(ByteSpan file) { return load<std::uint32_t>(file, 0) == 0x464c457fu; }

}  // namespace

Kind recognise(ByteSpan binary) {
    using namespace std::string_view_literals;
    if (binary.empty()) return Kind::empty;
    if (has_elf_magic(binary)) return recognise_elf(binary);
    // 0x0B17C0DE is LLVM's own wrapper around bitcode, seen from Apple; llvm-dis reads both.
    constexpr std::pair<std::string_view, Kind> magics[]{
        {"poclbin\0"sv, Kind::poclbin},       {"!<arch>\n"sv, Kind::ocloc_fat},
        {"bplist00"sv, Kind::apple_plist},    {"CTNI"sv, Kind::intel_gpu_patch_tokens},
        {"BC\xc0\xde"sv, Kind::llvm_bitcode}, {"\xde\xc0\x17\x0b"sv, Kind::llvm_bitcode},
        {"\x03\x02\x23\x07"sv, Kind::spirv},  {"\x07\x23\x02\x03"sv, Kind::spirv}};
    for (const auto& [magic, kind] : magics)
        if (as_text(binary).starts_with(magic)) return kind;
    if (load<std::uint32_t>(binary, 12) == 0x07230203u) return Kind::rusticl;
    if (is_ptx(binary)) return Kind::ptx;
    return recognise_embedded_elf(binary);
}

const char* name(Kind kind) { return text_of(kind).name; }
const char* describe(Kind kind) { return text_of(kind).describe; }
const char* file_name(Kind kind) { return text_of(kind).file; }

std::string damage_of(std::span<const std::byte> binary) {
    if (recognise(binary) == Kind::poclbin && !read_poclbin(binary).complete)
        return "it does not hold all that its header names";
    const auto elf = read_elf(binary);
    if (elf && elf->bytes > binary.size())
        return concat("its sections end at byte ", elf->bytes, ", and it has ", binary.size());
    return {};
}

std::string_view ptx_text(ByteSpan binary) {
    std::string_view text = as_text(binary);
    while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
    return text;
}

std::vector<std::string> kernel_names(ByteSpan binary) {
    std::vector<std::string> out;
    for (const auto& name : all_names(binary)) add_once(out, name);
    return out;
}

/// Token 53 is a list of symbols: their number, then per symbol its type, offset, size and a name of 1024 bytes. An
/// undefined function has size 0, and an undefined variable has the largest offset.
std::vector<std::string> undefined_symbols(ByteSpan binary) {
    constexpr std::uint32_t symbol_table = 53, nowhere = 0xffffffff;
    constexpr std::uint64_t name_bytes = 1024, symbol_bytes = 12 + name_bytes;
    std::vector<std::string> out;
    if (recognise(binary) != Kind::intel_gpu_patch_tokens) return out;
    for (const auto& [kernel, patches] : patched_kernels(binary)) {
        const auto word = [&](std::uint64_t at) { return load<std::uint32_t>(patches, at).value_or(0); };
        for (std::uint64_t at = 0, size = 0; (size = word(at + 4)) >= 8; at += size)
            for (std::uint64_t i = 0; word(at) == symbol_table && i < word(at + 8); ++i) {
                const auto symbol = at + 12 + i * symbol_bytes;
                const auto name = slice(patches, symbol + 12, name_bytes);
                if (!name) break;
                if (word(symbol + 8) == 0 || word(symbol + 4) == nowhere) out.emplace_back(until_nul(as_text(*name)));
            }
    }
    return out;
}

namespace {

constexpr std::uint32_t sht_symtab = 2, sht_nobits = 8, sht_dynsym = 11;
constexpr std::size_t most_symbols = 1u << 20;  // a damaged size must not cause endless allocation

/// Name at `offset` of a string table, up to its NUL; empty if it starts outside or has no end.
std::string_view string_at(ByteSpan table, std::uint64_t offset) {
    const std::string_view text = as_text(table);
    if (offset >= text.size()) return {};
    const auto end = text.find('\0', static_cast<std::size_t>(offset));
    if (end == std::string_view::npos) return {};
    return text.substr(static_cast<std::size_t>(offset), end - static_cast<std::size_t>(offset));
}

/// A number: 8 bytes at `at64` in a 64-bit file, 4 bytes at `at32` in a 32-bit one.
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
