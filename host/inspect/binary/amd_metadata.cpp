#include "inspect/binary/amd_metadata.hpp"

#include <array>
#include <utility>

#include "inspect/binary/binary.hpp"
#include "json/read.hpp"

namespace cllab::inspect {
namespace {

using nlohmann::json;

std::string string_at(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

/// EF_AMDGPU_MACH, the low byte of e_flags (LLVM, BinaryFormat/ELF.h). Only read if the metadata names no target.
constexpr std::array<std::pair<std::uint8_t, const char*>, 26> processors{{
    {0x20, "gfx600"},  {0x21, "gfx601"},  {0x22, "gfx700"},  {0x23, "gfx701"},  {0x24, "gfx702"},  {0x28, "gfx801"},
    {0x29, "gfx802"},  {0x2a, "gfx803"},  {0x2b, "gfx810"},  {0x2c, "gfx900"},  {0x2d, "gfx902"},  {0x2e, "gfx904"},
    {0x2f, "gfx906"},  {0x30, "gfx908"},  {0x31, "gfx909"},  {0x33, "gfx1010"}, {0x34, "gfx1011"}, {0x35, "gfx1012"},
    {0x36, "gfx1030"}, {0x37, "gfx1031"}, {0x38, "gfx1032"}, {0x3f, "gfx90a"},  {0x40, "gfx940"},  {0x41, "gfx1100"},
    {0x4c, "gfx942"},  {0x4e, "gfx1201"},
}};

}  // namespace

std::optional<json> read_amd_metadata(ByteSpan code_object) {
    constexpr std::uint32_t sht_note = 7, nt_amdgpu_metadata = 32;
    const auto elf = read_elf(code_object);
    if (!elf) return std::nullopt;
    for (const auto& section : elf->sections) {
        if (section.type != sht_note) continue;
        for (std::uint64_t at = 0; at + 12 <= section.data.size();) {
            const std::uint64_t name_size = *load<std::uint32_t>(section.data, at);
            const std::uint64_t size = *load<std::uint32_t>(section.data, at + 4);
            const std::uint32_t type = *load<std::uint32_t>(section.data, at + 8);
            const std::uint64_t content_at = at + 12 + (name_size + 3) / 4 * 4;
            const auto name = slice(section.data, at + 12, name_size);
            const auto content = slice(section.data, content_at, size);
            if (!name || !content) break;
            if (type == nt_amdgpu_metadata && as_text(*name).starts_with("AMDGPU")) {
                auto document = parse_msgpack(*content);
                if (document && document->is_object()) return document;
            }
            at = content_at + (size + 3) / 4 * 4;
        }
    }
    return std::nullopt;
}

const json* amd_kernel(const json& metadata, std::string_view entry) {
    const auto kernels = metadata.find("amdhsa.kernels");
    if (kernels == metadata.end() || !kernels->is_array()) return nullptr;
    for (const auto& kernel : *kernels)
        if (kernel.is_object() && string_at(kernel, ".name") == entry) return &kernel;
    return nullptr;
}

std::optional<std::int64_t> amd_number(const json& kernel, const char* key) {
    const auto found = kernel.find(key);
    if (found == kernel.end() || !found->is_number_integer()) return std::nullopt;
    return found->get<std::int64_t>();
}

std::string amd_processor(ByteSpan code_object) {
    if (const auto metadata = read_amd_metadata(code_object)) {
        // In "amdgcn-amd-amdhsa--gfx90a:sramecc+" the processor follows the double dash.
        std::string target = string_at(*metadata, "amdhsa.target");
        if (const auto dashes = target.rfind("--"); dashes != std::string::npos) {
            target = target.substr(dashes + 2);
            return target.substr(0, target.find(':'));
        }
    }
    if (const auto elf = read_elf(code_object); elf && elf->machine == 0xE0)
        for (const auto& [code, processor] : processors)
            if (code == (elf->flags & 0xff)) return processor;
    return {};
}

}  // namespace cllab::inspect
