#include "inspect/disassemble.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "inspect/amd_metadata.hpp"
#include "inspect/comgr.hpp"
#include "inspect/elf.hpp"
#include "inspect/intel_cpu_code.hpp"
#include "inspect/pocl_code.hpp"
#include "inspect/tool.hpp"

namespace cllab::inspect {
namespace {

struct Command {
    std::vector<std::string> names;      ///< programs that can do it, best first
    std::vector<std::string> arguments;  ///< before the file name
};

std::string needs(const std::string& what, const std::string& tools, const std::string& package) {
    return "no disassembly: " + what + " needs " + tools + ", which is not on PATH (Debian " + package + ")";
}

/// Drops the "file format" line of objdump and the blank lines behind it.
std::string without_file_line(const std::string& text) {
    const auto at = text.find("file format");
    if (at == std::string::npos || at > 4096) return text;
    const auto first = text.find_first_not_of("\r\n", std::min(text.find('\n', at), text.size()));
    return first == std::string::npos ? std::string{} : text.substr(first);
}

/// Tools print the path of the temporary copy; the reader of a dump has no use for it.
std::string without_folder(std::string text, const std::filesystem::path& folder) {
    const std::string prefix = folder.string() + "/";
    for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at))
        text.erase(at, prefix.size());
    return text;
}

/// Runs the first command that is there and succeeds on a temporary copy of `content`; the listing's note tells why
/// when none did.
Listing run_on_file(Listing listing, const std::vector<Command>& commands, const std::string& file_name,
                    ByteSpan content, const std::string& needed) {
    std::string failures;
    for (const auto& command : commands) {
        const auto tool = find_tool(command.names);
        if (!tool) continue;
        const TempFolder folder;
        auto arguments = command.arguments;
        arguments.push_back(folder.write(file_name, content).string());
        const ToolResult result = run_tool(*tool, arguments);
        if (result.ok() && !result.out.empty()) {
            listing.text = without_folder(result.out, folder.path());
            listing.made_by = tool->filename().string();
            return listing;
        }
        failures += (failures.empty() ? "" : "; ") + tool->filename().string() + " " +
                    without_folder(result.failure(), folder.path());
    }
    listing.note = failures.empty() ? needed : "no disassembly: " + failures;
    return listing;
}

std::int64_t symbol_size(ByteSpan file, const std::string& name) {
    const auto elf = read_elf(file);
    const ElfSymbol* symbol = elf ? elf->symbol(name) : nullptr;
    return symbol ? static_cast<std::int64_t>(symbol->size) : 0;
}

Disassembly only(Listing listing) {
    Disassembly out;
    out.listings.push_back(std::move(listing));
    return out;
}

Disassembly disassemble_pocl(ByteSpan binary, const std::string& entry, const LaunchSize& launch) {
    const PoclContainer container = read_poclbin(binary);
    const PoclCode code = choose_pocl_code(container, entry, launch, loaded_objects());
    if (code.path.empty()) {
        Listing none{describe(Kind::poclbin)};
        none.note = "no disassembly: PoCL's container (format version " + std::to_string(container.version) + ", " +
                    std::to_string(container.entries.size()) + " files" +
                    (container.complete ? "" : ", damaged or truncated") + ") holds no machine code of kernel '" +
                    entry + "'";
        return only(std::move(none));
    }
    Listing listing = disassemble_host_elf(code.content, code.symbol);
    listing.title = code.label;
    if (!code.others.empty()) listing.title += "; also in the container: " + join(code.others, ", ");
    if (!container.complete) listing.title += "; the container is damaged or truncated";
    Disassembly out = only(std::move(listing));
    out.parts.push_back({"program.so", std::string(as_text(code.content))});
    out.code_bytes = symbol_size(code.content, code.symbol);
    return out;
}

Listing disassemble_spirv(ByteSpan spirv) {
    return run_on_file({"SPIR-V (not machine code)", Isa::spirv}, {{{"spirv-dis"}, {"--no-color"}}}, "program.spv",
                       spirv, needs("SPIR-V", "spirv-dis", "spirv-tools"));
}

Listing disassemble_bitcode(ByteSpan bitcode) {
    return run_on_file({"LLVM IR (not machine code)", Isa::llvm_ir}, {{llvm_names("llvm-dis"), {"-o", "-"}}},
                       "program.bc", bitcode,
                       needs("LLVM bitcode", "llvm-dis of the same LLVM or a newer one", "llvm"));
}

Disassembly disassemble_cubin(ByteSpan cubin, const std::string& entry, const std::string& title) {
    Listing listing =
        run_on_file({title, Isa::sass, {}, {}, entry}, {{{"nvdisasm"}, {"-c"}}, {{"cuobjdump"}, {"-sass"}}},
                    "program.cubin", cubin, needs("SASS", "nvdisasm or cuobjdump", "nvidia-cuda-toolkit"));
    listing.text = cut_sass(listing.text, entry);
    Disassembly out = only(std::move(listing));
    const auto elf = read_elf(cubin);
    if (const ElfSection* text = elf ? elf->section(".text." + entry) : nullptr)
        out.code_bytes = static_cast<std::int64_t>(text->data.size());
    return out;
}

Disassembly disassemble_intel_cpu(ByteSpan binary, const std::string& entry, const LaunchSize& launch) {
    Listing listing{describe(Kind::intel_cpu)};
    auto elf = read_elf(binary);
    // One tool has seen this ELF behind 0x30 other bytes.
    if (const auto at = as_text(binary).find("\x7f"
                                             "ELF");
        !elf && at != std::string_view::npos)
        elf = read_elf(binary.subspan(at));
    const ElfSection* object = elf ? elf->section(".ocl.obj") : nullptr;
    if (!object || object->data.empty()) {
        listing.note = "no disassembly: the section .ocl.obj, which holds the machine code, cannot be read";
        return only(std::move(listing));
    }
    const auto inner = read_elf(object->data);
    const IntelCpuCode code = inner ? choose_intel_cpu_code(*inner, entry, launch) : IntelCpuCode{entry, {}};
    const std::string title = listing.title + (code.label.empty() ? "" : ", " + code.label);
    listing = disassemble_host_elf(object->data, code.symbol);
    listing.title = title;
    Disassembly out = only(std::move(listing));
    out.parts.push_back({"program.o", std::string(as_text(object->data))});
    out.code_bytes = symbol_size(object->data, code.symbol);
    return out;
}

Disassembly disassemble_clover(ByteSpan binary, const std::string& entry) {
    const auto at = as_text(binary).find(
        "\x7f"
        "ELF");
    const ByteSpan inner = at == std::string_view::npos ? ByteSpan{} : binary.subspan(at);
    if (recognise(inner) == Kind::amdgpu_code_object) {
        Disassembly out = only(disassemble_code_object(inner, entry));
        out.parts.push_back({"program.co", std::string(as_text(inner))});
        return out;
    }
    Listing listing{describe(Kind::clover)};
    listing.note = "no disassembly: the ELF file inside clover's module is not AMDGPU code";
    return only(std::move(listing));
}

Disassembly note_only(Kind kind, const std::string& note) {
    Listing listing{describe(kind)};
    listing.note = "no disassembly: " + note;
    return only(std::move(listing));
}

}  // namespace

Listing disassemble_host_elf(ByteSpan file, const std::string& function) {
    const auto elf = read_elf(file);
    if (!elf)
        return {"machine code", Isa::none, {}, "no disassembly: the machine code is not a readable ELF file", function};
    const bool x86 = elf->machine == 62 || elf->machine == 3;
    std::vector<std::string> arguments{"-d", "--no-show-raw-insn"};
    if (x86) arguments.insert(arguments.end(), {"-M", "intel"});
    Listing listing = run_on_file({"machine code", x86 ? Isa::x86 : Isa::other_host, {}, {}, function},
                                  {{llvm_names("llvm-objdump"), arguments}, {{"objdump"}, arguments}}, "program.so",
                                  file, needs("host machine code", "objdump or llvm-objdump", "binutils"));
    listing.text = cut_function(without_file_line(listing.text), function);
    return listing;
}

Listing disassemble_code_object(ByteSpan file, const std::string& entry, bool own_make) {
    Listing listing{describe(Kind::amdgpu_code_object), Isa::gcn, {}, {}, entry};
    const auto by_comgr = [&] {
        // A file that names no processor makes the library end this process.
        const auto elf = read_elf(file);
        if (!elf || (elf->flags & 0xff) == 0) return false;
        ComgrOutput text = comgr_disassemble(file, amd_processor(file));
        if (text.ok) listing.text = std::move(text.bytes), listing.made_by = "amd_comgr";
        return text.ok;
    };
    if (!own_make || !by_comgr()) {
        listing = run_on_file(std::move(listing), {{llvm_names("llvm-objdump"), {"-d"}}}, "program.co", file,
                              needs("GCN code", "llvm-objdump or the library amd_comgr", "llvm, libamd-comgr2"));
        // Metadata that can be read to its end is as good a sign as any that the file is whole.
        if (listing.text.empty() && read_amd_metadata(file) && by_comgr()) listing.note.clear();
    }
    listing.text = cut_function(without_file_line(listing.text), entry);
    return listing;
}

Disassembly disassemble_ptx(std::string_view ptx, const std::string& entry, const DisassembleOptions& options) {
    Disassembly out = only({describe(Kind::ptx), Isa::ptx, std::string(ptx), {}, entry, options.ptx_by});
    const std::string title = "SASS, re-assembled by ptxas, may differ from the driver's";
    const auto ptxas = find_tool({"ptxas"});
    if (!ptxas) {
        out.listings.push_back(
            {title, Isa::sass, {}, needs("SASS", "ptxas with nvdisasm or cuobjdump", "nvidia-cuda-toolkit"), entry});
        return out;
    }
    const TempFolder folder;
    const auto source = folder.write("program.ptx", as_bytes(ptx));
    const auto cubin_path = folder.path() / "program.cubin";
    const std::string target = options.arch.empty() ? "sm_" + std::to_string(ptx_target(ptx)) : options.arch;
    const ToolResult result = run_tool(*ptxas, {"-v", "-arch=" + target, source.string(), "-o", cubin_path.string()});
    const auto cubin = result.ok() ? read_file(cubin_path) : std::nullopt;
    if (!cubin) {
        out.listings.push_back(
            {title, Isa::sass, {}, "no disassembly: ptxas " + without_folder(result.failure(), folder.path()), entry});
        return out;
    }
    out.ptxas = parse_ptxas_log(result.out + result.err, entry);
    Disassembly sass = disassemble_cubin(as_bytes(*cubin), entry, title + " (" + target + ")");
    out.code_bytes = sass.code_bytes;
    out.listings.push_back(std::move(sass.listings.front()));
    out.parts.push_back({"program.cubin", *cubin});
    return out;
}

Disassembly disassemble(Kind kind, ByteSpan binary, const std::string& entry, const LaunchSize& launch,
                        const DisassembleOptions& options) {
    switch (kind) {
        case Kind::empty:
            return note_only(kind, "the driver returned no binary for this device");
        case Kind::unknown:
            return note_only(kind, "the binary is of no kind this lab knows, or it is damaged");
        case Kind::ptx:
            return disassemble_ptx(ptx_text(binary), entry, options);
        case Kind::cubin:
            return disassemble_cubin(binary, entry, describe(kind));
        case Kind::amdgpu_code_object: {
            Disassembly out = only(disassemble_code_object(binary, entry, options.own_make));
            out.code_bytes = symbol_size(binary, entry);
            return out;
        }
        case Kind::catalyst_amdil:
        case Kind::catalyst_hsail:
            return note_only(kind, "AMD Catalyst binaries need clrxdisasm (CLRX-mirror; in no Debian package)");
        case Kind::intel_cpu:
            return disassemble_intel_cpu(binary, entry, launch);
        case Kind::intel_gpu_patch_tokens:
        case Kind::intel_gpu_zebin:
        case Kind::ocloc_fat:
            return note_only(kind, "Intel GPU code needs `ocloc disasm -file " + std::string(file_name(kind)) +
                                       "` (Debian package intel-ocloc) or iga64");
        case Kind::poclbin:
            return disassemble_pocl(binary, entry, launch);
        case Kind::rusticl: {
            const ByteSpan spirv = slice(binary, 12, binary.size() - 12).value_or(ByteSpan{});
            Disassembly out = only(disassemble_spirv(spirv));
            out.parts.push_back({"program.spv", std::string(as_text(spirv))});
            return out;
        }
        case Kind::clover:
            return disassemble_clover(binary, entry);
        case Kind::spirv:
            return only(disassemble_spirv(binary));
        case Kind::llvm_bitcode:
            return only(disassemble_bitcode(binary));
        case Kind::apple_plist:
            return note_only(kind, "Apple does not document its program binaries");
        case Kind::host_elf: {
            Disassembly out = only(disassemble_host_elf(binary, entry));
            out.code_bytes = symbol_size(binary, entry);
            return out;
        }
    }
    return note_only(Kind::unknown, "the binary is of no kind this lab knows");
}

}  // namespace cllab::inspect
