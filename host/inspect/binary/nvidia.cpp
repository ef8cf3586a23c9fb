#include "inspect/binary/nvidia.hpp"

#include "core/text.hpp"
#include "inspect/binary/elf.hpp"
#include "inspect/code/code.hpp"

namespace cllab::inspect {
namespace {

/// The number directly before `words` in `line`: "0 bytes spill stores" and "bytes spill stores" give 0.
std::optional<std::int64_t> number_before(std::string_view line, std::string_view words) {
    auto end = line.find(words);
    if (end == std::string_view::npos) return std::nullopt;
    while (end > 0 && line[end - 1] == ' ') --end;
    auto begin = end;
    while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
    return begin == end ? std::nullopt : std::optional(static_cast<std::int64_t>(number_at(line, begin)));
}

void keep(std::optional<std::int64_t>& field, std::optional<std::int64_t> found) {
    if (found) field = found;
}

}  // namespace

PtxasFacts parse_ptxas_log(std::string_view log, std::string_view entry) {
    PtxasFacts facts;
    bool any_entry = false, entry_is_mine = true, function_is_mine = true;
    for (const auto& line : split(log, '\n')) {
        if (const auto at = line.find("Compiling entry function '"); at != std::string::npos) {
            const auto first = line.find('\'', at) + 1;
            entry_is_mine = function_is_mine = line.substr(first, line.find('\'', first) - first) == entry;
            if (!any_entry) facts = {};
            any_entry = true;
        } else if (const auto properties = line.find("Function properties for "); properties != std::string::npos) {
            // Functions the entry calls have their properties in the same block.
            function_is_mine = !any_entry || trim(line.substr(properties + 24)) == entry;
        }
        if (entry_is_mine && function_is_mine) {
            keep(facts.stack_bytes, number_before(line, "bytes stack frame"));
            keep(facts.spill_store_bytes, number_before(line, "bytes spill stores"));
            keep(facts.spill_load_bytes, number_before(line, "bytes spill loads"));
        }
        if (entry_is_mine && line.find("Used ") != std::string::npos) {
            keep(facts.registers, number_before(line, "registers"));
            keep(facts.barriers, number_before(line, "barriers"));
            keep(facts.shared_bytes, number_before(line, "bytes smem"));
        }
    }
    if (facts.registers && !facts.shared_bytes) facts.shared_bytes = 0;  // ptxas leaves zeros out
    return facts;
}

PtxasFacts read_cubin(ByteSpan cubin, std::string_view entry) {
    constexpr std::uint8_t format_sized = 4, frame_size = 0x11, register_count = 0x2f;
    PtxasFacts facts;
    const auto elf = read_elf(cubin);
    if (!elf) return facts;
    const ElfSection* info = elf->section(".nv.info");
    for (std::uint64_t at = 0; info && at + 4 <= info->data.size();) {
        const auto format = *load<std::uint8_t>(info->data, at), attribute = *load<std::uint8_t>(info->data, at + 1);
        const auto size = *load<std::uint16_t>(info->data, at + 2);
        const auto payload = format == format_sized ? slice(info->data, at + 4, size) : std::nullopt;
        at += 4 + (format == format_sized ? size : 0u);
        if (!payload || size != 8) continue;
        const auto index = *load<std::uint32_t>(*payload, 0);
        const std::int64_t value = *load<std::uint32_t>(*payload, 4);
        if (index >= elf->symbols.size() || elf->symbols[index].name != entry) continue;
        if (attribute == register_count) facts.registers = value;
        if (attribute == frame_size) facts.stack_bytes = value;
    }
    return facts;
}

int ptx_target(std::string_view ptx) {
    const auto at = ptx.find(".target sm_");
    return at == std::string_view::npos ? 0 : static_cast<int>(number_at(ptx, at + 11));
}

}  // namespace cllab::inspect
