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

std::vector<std::string> of_sections(ByteSpan binary, std::string_view prefix) {
    std::vector<std::string> out;
    if (const auto elf = read_elf(binary))
        for (const auto& section : elf->sections)
            if (section.name.size() > prefix.size() && section.name.starts_with(prefix))
                out.emplace_back(section.name.substr(prefix.size()));
    return out;
}

/// A code object has a descriptor NAME.kd for each kernel.
std::vector<std::string> of_descriptors(ByteSpan binary) {
    std::vector<std::string> out;
    if (const auto elf = read_elf(binary))
        for (const auto& symbol : elf->symbols)
            if (symbol.name.size() > 3 && symbol.name.ends_with(".kd"))
                out.emplace_back(symbol.name.substr(0, symbol.name.size() - 3));
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
    const auto word = [&](std::size_t i) {
        std::uint32_t value = 0;
        for (std::size_t b = 0; b < 4; ++b) value |= std::to_integer<std::uint32_t>(binary[4 * i + b]) << (8 * b);
        return value;
    };
    const auto words = binary.size() / 4;
    for (std::size_t at = 5; at < words;) {
        const auto count = word(at) >> 16;
        if (count == 0 || at + count > words) break;
        if ((word(at) & 0xffff) == 15 && count > 3 && word(at + 1) == 6) {
            std::string name;
            for (auto b = 4 * (at + 3); b < 4 * (at + count) && binary[b] != std::byte{0}; ++b)
                name += std::to_integer<char>(binary[b]);
            out.push_back(name);
        }
        at += count;
    }
    return out;
}

}  // namespace

std::vector<std::string> kernel_names(ByteSpan binary) {
    std::vector<std::string> found;
    switch (recognise(binary)) {
        case Kind::ptx:
            found = of_ptx(ptx_text(binary));
            break;
        case Kind::cubin:
            found = of_sections(binary, ".text.");
            break;
        case Kind::intel_gpu_zebin:
            found = of_sections(binary, ".text.");
            break;
        case Kind::amdgpu_code_object:
            found = of_descriptors(binary);
            break;
        case Kind::poclbin:
            found = of_poclbin(binary);
            break;
        case Kind::spirv:
            found = of_spirv(binary);
            break;
        default:
            break;
    }
    std::vector<std::string> out;
    for (const auto& name : found)
        if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
    return out;
}

}  // namespace cllab::inspect
