// PoCL's container. The header and the per-kernel metadata grew between format versions 6 and 12, but the file records
// (u32 length, path from the cache folder, u32 length, content) stayed, so they are looked for instead of counted off.
#include <algorithm>
#include <set>

#include "inspect/binary/binary.hpp"
#include "inspect/binary/bounded_bytes.hpp"

namespace cllab::inspect {
namespace {

constexpr std::size_t magic_size = 8, version_at = 16, kernels_at = 20, header_size = 32, most_path = 4096;

struct Record {
    std::string_view path;
    ByteSpan content;
    std::size_t end = 0;   ///< offset behind the content
    bool clipped = false;  ///< the content runs past the end of the container
};

bool is_path(std::string_view path) {
    if (path.size() < 2 || path.front() != '/' || path.back() == '/') return false;
    return std::ranges::all_of(path, [](unsigned char c) { return c > 32 && c < 127; });
}

std::optional<Record> record_at(ByteSpan binary, std::size_t at) {
    const auto length = load<std::uint32_t>(binary, at);
    if (!length || *length < 2 || *length > most_path) return std::nullopt;
    const auto path = slice(binary, at + 4, *length);
    if (!path || !is_path(as_text(*path))) return std::nullopt;
    const std::size_t size_at = at + 4 + *length;
    const auto size = load<std::uint32_t>(binary, size_at);
    if (!size) return Record{as_text(*path), {}, binary.size(), true};
    if (const auto content = slice(binary, size_at + 4, *size))
        return Record{as_text(*path), *content, size_at + 4 + *size, false};
    return Record{as_text(*path), binary.subspan(size_at + 4), binary.size(), true};
}

/// "/vadd/0-0-0/vadd.so" belongs to vadd; "/program.bc" to nobody.
std::string_view kernel_of(std::string_view path) {
    const auto slash = path.find('/', 1);
    return slash == std::string_view::npos ? std::string_view{} : path.substr(1, slash - 1);
}

/// PoCL names a program's folder after its hash, a letter from A to P for four bits: two letters, a slash and the
/// others.
std::string folder_in(ByteSpan binary) {
    constexpr std::size_t length = 40, searched = 128;
    const auto head = as_text(binary).substr(0, searched);
    const auto is_letter = [](char c) { return c >= 'A' && c <= 'P'; };
    for (std::size_t at = header_size; at + length < head.size(); ++at) {
        const auto name = head.substr(at, length);
        if (name[2] == '/' && std::all_of(name.begin(), name.begin() + 2, is_letter) &&
            std::all_of(name.begin() + 3, name.end(), is_letter))
            return std::string(name);
    }
    return {};
}

}  // namespace

PoclContainer read_poclbin(ByteSpan binary) {
    using namespace std::string_view_literals;
    PoclContainer container;
    if (!as_text(binary).starts_with("poclbin\0"sv) || binary.size() < header_size) return container;
    container.device_hash = *load<std::uint64_t>(binary, magic_size);
    container.version = *load<std::uint32_t>(binary, version_at);
    const std::uint32_t kernels = *load<std::uint32_t>(binary, kernels_at);
    container.folder = folder_in(binary);

    std::set<std::string_view> seen;
    bool clipped = false;
    std::size_t last_end = 0;
    for (std::size_t at = header_size; at < binary.size();) {
        const auto record = record_at(binary, at);
        if (!record) {
            ++at;
            continue;
        }
        container.entries.push_back({std::string(record->path), record->content});
        if (const auto kernel = kernel_of(record->path); !kernel.empty()) seen.insert(kernel);
        clipped = clipped || record->clipped;
        at = last_end = record->end;
    }
    // Every kernel has at least its generic work-group function, and the last record ends the container.
    container.complete = !container.entries.empty() && !clipped && last_end == binary.size() && seen.size() >= kernels;
    return container;
}

}  // namespace cllab::inspect
