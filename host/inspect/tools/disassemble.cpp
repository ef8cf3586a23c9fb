#include "inspect/tools/disassemble.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "inspect/binary/binary.hpp"
#include "inspect/code/code.hpp"
#include "inspect/isa/isa.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::inspect {
namespace {

/// A result with one listing, and the part of the binary that it was made from.
Disassembly only(Listing listing, const char* file = nullptr, ByteSpan part = {}) {
    Disassembly out;
    out.listings.push_back(std::move(listing));
    if (file) out.parts.push_back({file, std::string(as_text(part))});
    return out;
}

Listing note(Kind kind, const std::string& why) { return {describe(kind), nullptr, {}, "no disassembly: " + why}; }

constexpr std::string_view elf_magic("\177ELF");

/// The function with the kernel's own code: if a kernel asks for no id, PoCL's work-group function only calls it.
std::string own_function(const Listing& listing, const std::string& kernel) {
    const std::string function = "_pocl_kernel_" + kernel;
    if (!listing.isa || !listing.isa->parse) return listing.function;
    const auto functions = listing.isa->parse(listing.text);
    const auto group = std::ranges::find(functions, listing.function, &Function::name);
    const bool calls = group != functions.end() && std::ranges::count(functions, function, &Function::name) > 0;
    return calls && analyse_flow(*group).loops.empty() ? function : listing.function;
}

/// Disassembly of an ELF file for the host's processor family: `function` and the functions that it calls, or
/// everything if `function` is empty or missing.
Listing disassemble_host_elf(ByteSpan file, const std::string& function) {
    const auto elf = read_elf(file);
    if (!elf)
        return {"machine code", nullptr, {}, "no disassembly: the machine code is not a readable ELF file", function};
    const bool x86 = elf->machine == 62 || elf->machine == 3;
    std::vector<std::string> arguments{"-d", "--no-show-raw-insn"};
    if (x86) arguments.insert(arguments.end(), {"-M", "intel"});
    Listing listing = run_on_file({"machine code", x86 ? &isa::x86 : &isa::host, {}, {}, function},
                                  {{llvm_names("llvm-objdump"), arguments}, {{"objdump"}, arguments}}, "program.so",
                                  file, needs("host machine code", "objdump or llvm-objdump", "binutils"));
    listing.text = cut_function(without_file_line(listing.text), function);
    return listing;
}

Disassembly disassemble_pocl(ByteSpan binary, const std::string& entry, const LaunchSize& launch,
                             const std::string& ran) {
    const auto loaded = loaded_objects();
    const PoclContainer container = with_loaded(read_poclbin(binary), loaded);
    const PoclCode code = choose_pocl_code(container, entry, launch, loaded, ran);
    if (code.path.empty())
        return only(note(Kind::poclbin,
                         concat("PoCL's container (format version ", container.version, ", ", container.entries.size(),
                                " files", container.complete ? "" : ", damaged or truncated",
                                ") holds no machine code of kernel '", entry, "'")));
    Listing listing = disassemble_host_elf(code.content, code.symbol);
    listing.function = own_function(listing, entry);
    listing.title = code.label;
    if (listing.function != code.symbol) listing.title += ", which calls " + listing.function;
    if (!code.others.empty()) listing.title += "; also in the container: " + join(code.others, ", ");
    if (!container.complete) listing.title += "; the container is damaged or truncated";
    Disassembly out = only(std::move(listing), "program.so", code.content);
    out.code_bytes = symbol_size(code.content, out.listings.front().function);
    return out;
}

Listing disassemble_spirv(ByteSpan spirv) {
    return run_on_file({"SPIR-V (not machine code)", &isa::spirv}, {{{"spirv-dis"}, {"--no-color"}}}, "program.spv",
                       spirv, needs("SPIR-V", "spirv-dis", "spirv-tools"));
}

Disassembly disassemble_intel_cpu(ByteSpan binary, const std::string& entry, const LaunchSize& launch) {
    auto elf = read_elf(binary);
    // One tool saw this ELF after 0x30 other bytes.
    if (const auto at = as_text(binary).find(elf_magic); !elf && at != std::string_view::npos)
        elf = read_elf(binary.subspan(at));
    const ElfSection* object = elf ? elf->section(".ocl.obj") : nullptr;
    if (!object || object->data.empty())
        return only(note(Kind::intel_cpu, "the section .ocl.obj, which holds the machine code, cannot be read"));
    const auto inner = read_elf(object->data);
    const IntelCpuCode code = inner ? choose_intel_cpu_code(*inner, entry, launch) : IntelCpuCode{entry, {}};
    Listing listing = disassemble_host_elf(object->data, code.symbol);
    listing.title = describe(Kind::intel_cpu) + (code.label.empty() ? "" : ", " + code.label);
    Disassembly out = only(std::move(listing), "program.o", object->data);
    out.code_bytes = symbol_size(object->data, code.symbol);
    return out;
}

Disassembly disassemble_clover(ByteSpan binary, const std::string& entry) {
    const auto at = as_text(binary).find(elf_magic);
    const ByteSpan inner = at == std::string_view::npos ? ByteSpan{} : binary.subspan(at);
    if (recognise(inner) == Kind::amdgpu_code_object)
        return only(disassemble_code_object(inner, entry), "program.co", inner);
    return only(note(Kind::clover, "the ELF file inside clover's module is not AMDGPU code"));
}

/// Why a binary of a kind that no tool reads here has no disassembly.
std::string note_of(Kind kind) {
    switch (kind) {
        case Kind::empty:
            return "the driver returned no binary for this device";
        case Kind::catalyst_amdil:
        case Kind::catalyst_hsail:
            return "AMD Catalyst binaries need clrxdisasm (CLRX-mirror; in no Debian package)";
        case Kind::ocloc_fat:
            return "Intel GPU code needs `ocloc disasm -file " + std::string(file_name(kind)) +
                   "` (Debian package intel-ocloc) or iga64";
        case Kind::apple_plist:
            return "Apple does not document its program binaries";
        default:
            return "cllab does not know this kind of binary, or the binary is damaged";
    }
}

}  // namespace

Disassembly disassemble(Kind kind, ByteSpan binary, const std::string& entry, const LaunchSize& launch,
                        const DisassembleOptions& options) {
    if (const auto* set = isa::of(kind)) return set->disassemble(binary, entry, options);
    switch (kind) {
        case Kind::intel_cpu:
            return disassemble_intel_cpu(binary, entry, launch);
        case Kind::poclbin:
            return disassemble_pocl(binary, entry, launch, options.ran);
        case Kind::clover:
            return disassemble_clover(binary, entry);
        case Kind::spirv:
            return only(disassemble_spirv(binary));
        case Kind::llvm_bitcode:
            return only(run_on_file({"LLVM IR (not machine code)", &isa::llvm_ir},
                                    {{llvm_names("llvm-dis"), {"-o", "-"}}}, "program.bc", binary,
                                    needs("LLVM bitcode", "llvm-dis of the same LLVM or a newer one", "llvm")));
        case Kind::rusticl: {
            const ByteSpan spirv = slice(binary, 12, binary.size() - 12).value_or(ByteSpan{});
            return only(disassemble_spirv(spirv), "program.spv", spirv);
        }
        case Kind::host_elf: {
            Disassembly out = only(disassemble_host_elf(binary, entry));
            out.code_bytes = symbol_size(binary, entry);
            return out;
        }
        default:
            return only(note(kind, note_of(kind)));
    }
}

}  // namespace cllab::inspect
