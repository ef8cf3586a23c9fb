#include "inspect/code/entries.hpp"

#include <algorithm>
#include <cctype>

#include "inspect/binary/binary.hpp"
#include "inspect/binary/elf.hpp"

namespace cllab::inspect {
namespace {

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.'; }

std::vector<std::string> of_ptx(std::string_view text) {
    std::vector<std::string> out;
    constexpr std::string_view word = ".entry ";
    for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        auto end = at + word.size();
        while (end < text.size() && in_name(text[end])) ++end;
        if (end > at + word.size()) out.emplace_back(text.substr(at + word.size(), end - at - word.size()));
    }
    return out;
}

/// Of the sections or symbols of an ELF file: the names with this in front and that behind, without both.
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

/// Intel's patch tokens: a header of 28 bytes that counts the kernels, its list, and each kernel's header of 40 bytes
/// with the lengths of its name and of what follows that. Found by compiling kernels of several lengths (ocloc 22.43).
std::vector<std::string> of_patch_tokens(ByteSpan binary) {
    std::vector<std::string> out;
    const auto elf = read_elf(binary);
    const auto* section = elf ? elf->section("Intel(R) OpenCL Device Binary") : nullptr;
    const auto tokens = section ? section->data : binary;
    const auto word = [&](std::uint64_t at) { return std::uint64_t{load<std::uint32_t>(tokens, at).value_or(0)}; };
    auto at = 28 + word(24);
    for (auto left = word(16); left > 0 && at + 40 <= tokens.size(); --left) {
        const auto name = slice(tokens, at + 40, word(at + 12));
        if (!name) break;
        auto text = as_text(*name);
        text = text.substr(0, text.find('\0'));
        if (text != "Intel_Symbol_Table_Void_Program") out.emplace_back(text);  // the compiler's own, for addresses
        at += 40 + word(at + 12) + word(at + 16) + word(at + 20) + word(at + 24) + word(at + 28) + word(at + 32);
    }
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

}  // namespace

std::vector<std::string> kernel_names(ByteSpan binary) {
    std::vector<std::string> out;
    for (auto& name : all_names(binary))
        if (std::ranges::find(out, name) == out.end()) out.push_back(std::move(name));
    return out;
}

}  // namespace cllab::inspect
