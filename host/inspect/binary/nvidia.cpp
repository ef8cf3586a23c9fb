#include "inspect/binary/nvidia.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

#include "core/text.hpp"
#include "inspect/binary/binary.hpp"
#include "inspect/code/code.hpp"

namespace cllab::inspect {
namespace {

/// The number directly before `words` in `line`: 0 for "0 bytes spill stores" and "bytes spill stores".
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

/// Adds, because an entry and its body have a frame each.
void add(std::optional<std::int64_t>& field, std::optional<std::int64_t> found) {
    if (found) field = field.value_or(0) + *found;
}

/// A directive, a variable or a function at the outermost level.
struct Declaration {
    std::string name, text;  ///< name: empty for a directive
    std::string shown;       ///< its lines as they are, with comments
    bool used = false;
};

std::string trailing_identifier(std::string_view text) {
    const auto end = std::find_if(text.rbegin(), text.rend(), in_ptx_name);
    const auto begin = std::find_if_not(end, text.rend(), in_ptx_name);
    return {begin.base(), end.base()};
}

/// The name declared in ".entry NAME(", ".func (.param .b32 result) NAME(", ".global .align 4 .b8 NAME[8] = {1, 2}".
std::string name_declared_in(std::string_view text) {
    for (const std::string_view word : {".entry", ".func"}) {
        const auto at = text.find(word);
        if (at == text.npos || at > text.find_first_of("([;{")) continue;
        return ptx_function_name(text.substr(at + word.size()));
    }
    for (const std::string_view word : {".global", ".const", ".shared", ".visible", ".extern", ".weak", ".common"})
        if (text.starts_with(word)) return trailing_identifier(text.substr(0, text.find_first_of("[=;")));
    return {};
}

/// "$L__BB3_2" becomes "$L__BB_2", and "__local_depot3" becomes "__local_depot".
void drop_ordinals(std::string& line) {
    for (const std::string_view word : {"BB", "__local_depot"})
        for (auto at = line.find(word); at != line.npos; at = line.find(word, at + 1)) {
            const auto begin = at + word.size();
            auto end = begin;
            while (end < line.size() && std::isdigit(static_cast<unsigned char>(line[end]))) ++end;
            if (word != "BB" || (end < line.size() && line[end] == '_')) line.erase(begin, end - begin);
        }
}

std::vector<Declaration> parts_of(std::string_view text) {
    std::vector<Declaration> out;
    Declaration part;
    std::ptrdiff_t depth = 0;
    for (const auto& raw : split(text, '\n')) {
        part.shown += raw + "\n";
        auto line = trim(raw.substr(0, std::min(raw.size(), raw.find("//"))));
        if (line.empty()) continue;
        drop_ordinals(line);
        depth += std::count(line.begin(), line.end(), '{') - std::count(line.begin(), line.end(), '}');
        const bool directive = line.starts_with(".version") || line.starts_with(".target") ||
                               line.starts_with(".address_size") || line.starts_with(".file");
        part.text += line + "\n";
        if (depth > 0 || !(directive || line.back() == '}' || line.back() == ';')) continue;
        part.name = name_declared_in(part.text);
        out.push_back(std::move(part));
        part = {};
    }
    if (!part.text.empty()) out.push_back(std::move(part));
    return out;
}

const std::string body_prefix = "__clang_ocl_kern_imp_";

/// Those of kernel `entry` and what it names are `used`; all are where the text has no such kernel.
std::vector<Declaration> parts_used(std::string_view text, const std::string& entry) {
    auto parts = parts_of(text);
    const bool known = std::any_of(parts.begin(), parts.end(), [&](const auto& p) { return p.name == entry; });
    std::set<std::string> wanted{entry};
    const auto is_wanted = [&](const Declaration& p) {
        return !p.used && (!known || p.name.empty() || wanted.contains(p.name));
    };
    for (auto next = std::find_if(parts.begin(), parts.end(), is_wanted); next != parts.end();
         next = std::find_if(parts.begin(), parts.end(), is_wanted)) {
        next->used = true;
        if (next->name.empty()) continue;
        for (auto begin = next->text.begin(); begin != next->text.end();) {
            const auto end = std::find_if_not(begin, next->text.end(), in_ptx_name);
            wanted.emplace(begin, end);
            begin = std::find_if(end, next->text.end(), in_ptx_name);
        }
    }
    return parts;
}

}  // namespace

std::size_t required_group(std::string_view ptx, std::string_view entry) {
    for (auto at = ptx.find(".entry"); at != ptx.npos; at = ptx.find(".entry", at + 1)) {
        if (ptx_function_name(ptx.substr(at + 6)) != entry) continue;
        const auto head = ptx.substr(at, ptx.find('{', at) - at);
        const auto said = head.find(".reqntid");
        if (said == head.npos) return 0;
        std::size_t items = 1;
        for (const auto& number : split(head.substr(said + 8, head.find_first_of(".\n", said + 8) - said - 8), ','))
            items *= std::max<std::size_t>(number_at(trim(number), 0), 1);
        return items;
    }
    return 0;
}

std::string body_of_kernel(std::string_view ptx, const std::string& entry) {
    const auto body = body_prefix + entry;
    for (auto at = ptx.find(".func"); at != ptx.npos; at = ptx.find(".func", at + 1)) {
        const auto open = ptx.find('{', at), semicolon = ptx.find(';', at);
        if (open < semicolon && ptx_function_name(ptx.substr(at + 5)) == body) return body;
    }
    return entry;
}

bool in_ptx_name(char c) { return in_name(c) || c == '$' || c == '%'; }

std::string ptx_function_name(std::string_view text) {
    if (const auto open = text.find_first_not_of(" \t\r\n"); open != text.npos && text[open] == '(')
        text = text.substr(std::min(text.size(), text.find(')')));
    const auto begin = std::find_if(text.begin(), text.end(), in_ptx_name);
    return {begin, std::find_if_not(begin, text.end(), in_ptx_name)};
}

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
            // The entry's block also has the properties of functions that it calls.
            const auto name = trim(line.substr(properties + 24));
            function_is_mine = !any_entry || name == entry || name == concat(body_prefix, entry);
        }
        if (entry_is_mine && function_is_mine) {
            add(facts.stack_bytes, number_before(line, "bytes stack frame"));
            add(facts.spill_store_bytes, number_before(line, "bytes spill stores"));
            add(facts.spill_load_bytes, number_before(line, "bytes spill loads"));
        }
        if (entry_is_mine && line.find("Used ") != std::string::npos) {
            keep(facts.registers, number_before(line, "registers"));
            keep(facts.barriers, number_before(line, "barriers"));
            keep(facts.shared_bytes, number_before(line, "bytes smem"));
        }
    }
    if (facts.registers && !facts.shared_bytes) facts.shared_bytes = 0;  // ptxas omits zeros
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

std::string kernel_of_ptx(std::string_view text, const std::string& entry) {
    std::string out;
    for (const auto& part : parts_used(text, entry))
        if (part.used) out += part.text;
    return out;
}

std::string listing_of_ptx_kernel(std::string_view text, const std::string& entry) {
    std::string out;
    for (const auto& part : parts_used(text, entry))
        if (part.used) out += part.shown;
    return out;
}

}  // namespace cllab::inspect
