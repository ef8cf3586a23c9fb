#include "inspect/amd_metadata.hpp"

#include <array>
#include <bit>
#include <utility>

#include "inspect/elf.hpp"

namespace cllab::inspect {
namespace {

using nlohmann::json;

/// MessagePack (specification of 2013) with a limit on the nesting, which the JSON library's own reader lacks: it
/// recurses once a byte on a run of 0x91.
class MsgpackReader {
public:
    explicit MsgpackReader(ByteSpan bytes) : bytes_(bytes) {}

    std::optional<json> value(int depth = 0) {
        const auto tag = take<std::uint8_t>();
        if (!tag || depth > 32) return std::nullopt;
        const std::uint8_t t = *tag;
        if (t <= 0x7f) return json(t);
        if (t <= 0x8f) return map(t & 15u, depth);
        if (t <= 0x9f) return array(t & 15u, depth);
        if (t <= 0xbf) return string(t & 31u);
        if (t >= 0xe0) return json(static_cast<std::int8_t>(t));
        switch (t) {
            case 0xc0:
                return json();
            case 0xc2:
                return json(false);
            case 0xc3:
                return json(true);
            case 0xc4:
                return skip(take<std::uint8_t>());
            case 0xc5:
                return skip(take<std::uint16_t>());
            case 0xc6:
                return skip(take<std::uint32_t>());
            case 0xc7:
                return skip(take<std::uint8_t>(), 1);
            case 0xc8:
                return skip(take<std::uint16_t>(), 1);
            case 0xc9:
                return skip(take<std::uint32_t>(), 1);
            case 0xca:
                return real(take<std::uint32_t>());
            case 0xcb:
                return real(take<std::uint64_t>());
            case 0xcc:
                return number(take<std::uint8_t>());
            case 0xcd:
                return number(take<std::uint16_t>());
            case 0xce:
                return number(take<std::uint32_t>());
            case 0xcf:
                return number(take<std::uint64_t>());
            case 0xd0:
                return number<std::int8_t>(take<std::uint8_t>());
            case 0xd1:
                return number<std::int16_t>(take<std::uint16_t>());
            case 0xd2:
                return number<std::int32_t>(take<std::uint32_t>());
            case 0xd3:
                return number<std::int64_t>(take<std::uint64_t>());
            case 0xd4:
            case 0xd5:
            case 0xd6:
            case 0xd7:
            case 0xd8:
                return skip(std::optional<std::uint32_t>(1u << (t - 0xd4)), 1);
            case 0xd9:
                return sized_string(take<std::uint8_t>());
            case 0xda:
                return sized_string(take<std::uint16_t>());
            case 0xdb:
                return sized_string(take<std::uint32_t>());
            case 0xdc:
                return sized_array(take<std::uint16_t>(), depth);
            case 0xdd:
                return sized_array(take<std::uint32_t>(), depth);
            case 0xde:
                return sized_map(take<std::uint16_t>(), depth);
            case 0xdf:
                return sized_map(take<std::uint32_t>(), depth);
            default:
                return std::nullopt;
        }
    }

private:
    /// Numbers are big-endian.
    template <typename T>
    std::optional<T> take() {
        const auto part = slice(bytes_, at_, sizeof(T));
        if (!part) return std::nullopt;
        at_ += sizeof(T);
        std::uint64_t v = 0;
        for (const std::byte b : *part) v = v << 8 | std::to_integer<std::uint64_t>(b);
        return static_cast<T>(v);
    }
    template <typename As = void, typename T>
    static std::optional<json> number(std::optional<T> v) {
        if (!v) return std::nullopt;
        if constexpr (std::is_void_v<As>)
            return json(*v);
        else
            return json(static_cast<As>(*v));
    }
    static std::optional<json> real(std::optional<std::uint32_t> v) {
        return v ? std::optional(json(std::bit_cast<float>(*v))) : std::nullopt;
    }
    static std::optional<json> real(std::optional<std::uint64_t> v) {
        return v ? std::optional(json(std::bit_cast<double>(*v))) : std::nullopt;
    }
    template <typename T>
    std::optional<json> skip(std::optional<T> size, std::uint64_t more = 0) {
        if (!size || !slice(bytes_, at_, *size + more)) return std::nullopt;
        at_ += *size + more;
        return json();
    }
    std::optional<json> string(std::uint64_t size) {
        const auto part = slice(bytes_, at_, size);
        if (!part) return std::nullopt;
        at_ += size;
        return json(std::string(as_text(*part)));
    }
    std::optional<json> array(std::uint64_t count, int depth) {
        json out = json::array();
        for (std::uint64_t i = 0; i < count; ++i) {
            auto element = value(depth + 1);
            if (!element) return std::nullopt;
            out.push_back(std::move(*element));
        }
        return out;
    }
    std::optional<json> map(std::uint64_t count, int depth) {
        json out = json::object();
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto key = value(depth + 1);
            auto element = key ? value(depth + 1) : std::nullopt;
            if (!element || !key->is_string()) return std::nullopt;
            out[key->get<std::string>()] = std::move(*element);
        }
        return out;
    }
    template <typename T>
    std::optional<json> sized_string(std::optional<T> size) {
        return size ? string(*size) : std::nullopt;
    }
    template <typename T>
    std::optional<json> sized_array(std::optional<T> n, int depth) {
        return n ? array(*n, depth) : std::nullopt;
    }
    template <typename T>
    std::optional<json> sized_map(std::optional<T> n, int depth) {
        return n ? map(*n, depth) : std::nullopt;
    }

    ByteSpan bytes_;
    std::uint64_t at_ = 0;
};

std::optional<std::int64_t> number_at(const json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_integer()) return std::nullopt;
    return found->get<std::int64_t>();
}

std::string string_at(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

/// EF_AMDGPU_MACH, the low byte of e_flags (LLVM, BinaryFormat/ELF.h). Only read when the metadata names no target.
constexpr std::array<std::pair<std::uint8_t, const char*>, 26> processors{{
    {0x20, "gfx600"},  {0x21, "gfx601"},  {0x22, "gfx700"},  {0x23, "gfx701"},  {0x24, "gfx702"},  {0x28, "gfx801"},
    {0x29, "gfx802"},  {0x2a, "gfx803"},  {0x2b, "gfx810"},  {0x2c, "gfx900"},  {0x2d, "gfx902"},  {0x2e, "gfx904"},
    {0x2f, "gfx906"},  {0x30, "gfx908"},  {0x31, "gfx909"},  {0x33, "gfx1010"}, {0x34, "gfx1011"}, {0x35, "gfx1012"},
    {0x36, "gfx1030"}, {0x37, "gfx1031"}, {0x38, "gfx1032"}, {0x3f, "gfx90a"},  {0x40, "gfx940"},  {0x41, "gfx1100"},
    {0x4c, "gfx942"},  {0x4e, "gfx1201"},
}};

}  // namespace

std::optional<json> read_msgpack(ByteSpan bytes) { return MsgpackReader(bytes).value(); }

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
                auto document = read_msgpack(*content);
                if (document && document->is_object()) return document;
            }
            at = content_at + (size + 3) / 4 * 4;
        }
    }
    return std::nullopt;
}

std::optional<AmdKernelFacts> amd_kernel_facts(const json& metadata, std::string_view entry) {
    const auto kernels = metadata.find("amdhsa.kernels");
    if (kernels == metadata.end() || !kernels->is_array()) return std::nullopt;
    for (const auto& kernel : *kernels) {
        if (!kernel.is_object() || string_at(kernel, ".name") != entry) continue;
        AmdKernelFacts facts;
        facts.vgprs = number_at(kernel, ".vgpr_count");
        facts.agprs = number_at(kernel, ".agpr_count");
        facts.sgprs = number_at(kernel, ".sgpr_count");
        facts.vgpr_spills = number_at(kernel, ".vgpr_spill_count");
        facts.sgpr_spills = number_at(kernel, ".sgpr_spill_count");
        facts.private_bytes = number_at(kernel, ".private_segment_fixed_size");
        facts.local_bytes = number_at(kernel, ".group_segment_fixed_size");
        facts.wavefront = number_at(kernel, ".wavefront_size");
        facts.max_group = number_at(kernel, ".max_flat_workgroup_size");
        facts.kernarg_bytes = number_at(kernel, ".kernarg_segment_size");
        return facts;
    }
    return std::nullopt;
}

std::string amd_processor(ByteSpan code_object) {
    if (const auto metadata = read_amd_metadata(code_object)) {
        // "amdgcn-amd-amdhsa--gfx90a:sramecc+" names the processor behind the double dash.
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
