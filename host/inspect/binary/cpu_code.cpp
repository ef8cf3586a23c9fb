#include "inspect/binary/cpu_code.hpp"

#include <link.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/reading.hpp"
#include "core/text.hpp"
#include "inspect/code/code.hpp"

namespace cllab::inspect {
namespace {

struct Specialised {
    const PoclEntry* entry;
    std::string folder;  ///< "64-4-1-goffs0-smallgrid"
    model::Extent local;
    bool has(const char* mark) const { return folder.find(mark) != std::string::npos; }
};

/// "64-4-1-goffs0" of "/vadd/64-4-1-goffs0/vadd.so"; empty for another kind of path.
std::string folder_of(const std::string& path, const std::string& kernel) {
    const std::string prefix = "/" + kernel + "/";
    if (!path.starts_with(prefix) || !path.ends_with(".so")) return {};
    const auto slash = path.find('/', prefix.size());
    return slash == std::string::npos ? std::string{} : path.substr(prefix.size(), slash - prefix.size());
}

/// The three sizes at the start of a folder's name; zeros if there are none, and for the generic function.
model::Extent local_of(const std::string& folder) {
    model::Extent local(0, 0, 0);
    if (std::sscanf(folder.c_str(), "%zu-%zu-%zu", &local.size[0], &local.size[1], &local.size[2]) != 3)
        return {0, 0, 0};
    return local;
}

bool fits(const model::Extent& local, const LaunchSize& launch) {
    for (unsigned i = 0; i < 3; ++i) {
        if (launch.local.dims != 0 && local.size[i] != launch.local.size[i]) return false;
        if (launch.local.dims == 0 && launch.global.dims != 0 && launch.global.size[i] % local.size[i] != 0)
            return false;
    }
    return true;
}

/// If some elements satisfy `wanted`, drops the others.
template <typename Predicate>
void narrow(std::vector<Specialised>& list, Predicate wanted) {
    if (std::ranges::any_of(list, wanted)) std::erase_if(list, [&](const auto& s) { return !wanted(s); });
}

constexpr std::size_t version_at = 16, kernels_at = 20, header_size = 32, most_path = 4096;

struct Record {
    std::string_view path;
    ByteSpan content;
    std::size_t end = 0;   ///< offset after the content
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

/// "/vadd/0-0-0/vadd.so" belongs to vadd; "/program.bc" to no kernel.
std::string_view kernel_of(std::string_view path) {
    const auto slash = path.find('/', 1);
    return slash == std::string_view::npos ? std::string_view{} : path.substr(1, slash - 1);
}

/// PoCL names a program's folder after its hash, one letter from A to P per four bits: two letters, a slash and the
/// other letters.
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

/// Number of work-items that a function such as "_ZGVeN16uu_k" processes at once. The name has the instruction set, N
/// for no mask, the number, and one letter per parameter. 0 for any other name.
unsigned lanes_of(std::string_view symbol, const std::string& kernel) {
    if (!symbol.starts_with("_ZGV") || !symbol.ends_with("_" + kernel)) return 0;
    symbol.remove_suffix(kernel.size() + 1);
    const auto mask = symbol.find('N', 4);
    if (mask == std::string_view::npos || symbol.find('_', 1) != std::string_view::npos) return 0;
    return static_cast<unsigned>(number_at(symbol, mask + 1));
}

}  // namespace

PoclCode choose_pocl_code(const PoclContainer& container, const std::string& kernel, const LaunchSize& launch,
                          const std::vector<std::string>& loaded, const std::string& ran) {
    const PoclEntry* chosen = nullptr;
    std::vector<Specialised> fitting;
    std::vector<const PoclEntry*> all;
    for (const auto& entry : container.entries) {
        const Specialised s{&entry, folder_of(entry.path, kernel), local_of(folder_of(entry.path, kernel))};
        if (s.folder.empty()) continue;
        all.push_back(&entry);
        if (s.folder.starts_with("0-0-0"))
            chosen = &entry;
        else if (ran.empty() ? s.local.count() > 0 && fits(s.local, launch) : s.entry->path == ran)
            fitting.push_back(s);
    }
    narrow(fitting, [&](const Specialised& s) {
        return std::ranges::any_of(loaded, [&](const auto& file) { return file.ends_with(s.entry->path); });
    });
    // The lab launches without an offset. PoCL has separate code for that, and for grids below 65535 in every
    // direction.
    narrow(fitting, [](const Specialised& s) { return s.has("-goffs0"); });
    if (launch.global.dims != 0) {
        const bool small = *std::ranges::max_element(launch.global.size) < 65535;
        narrow(fitting, [&](const Specialised& s) { return s.has("-smallgrid") == small; });
    }
    std::ranges::stable_sort(fitting, [](const auto& a, const auto& b) { return a.local.count() > b.local.count(); });

    std::string label = "generic work-group function";
    if (!fitting.empty()) {
        chosen = fitting.front().entry;
        label = "work-group function specialised for local size " + fitting.front().local.text() + " (" +
                fitting.front().folder + ")";
        if (fitting.size() > 1)
            label += concat(", one of ", fitting.size(), " that may have run: the driver chose the local size");
    } else if (launch.local.dims != 0) {
        label += ", not specialised for local size " + launch.local.text();
    } else if (all.size() > 1) {
        label += "; no specialised one fits the launch";
    }

    if (!chosen) return {};
    PoclCode code{chosen->path, chosen->content, label, "_pocl_kernel_" + kernel + "_workgroup", {}};
    for (const auto* entry : all)
        if (entry != chosen && !entry->loaded) code.others.push_back(entry->path);
    return code;
}

std::optional<model::Extent> local_size_of(const std::string& path, const std::string& kernel) {
    auto local = local_of(folder_of(path, kernel));
    if (local.count() == 0) return std::nullopt;
    local.dims = 3;
    return local;
}

void learn_groups(model::WorkInfo& work, const std::string& path, const model::Extent& global) {
    if (work.group > 0 || work.launches > 1 || global.dims == 0 || path.empty()) return;
    const auto local = local_size_of(path, path.substr(1, path.find('/', 1) - 1));
    if (!local) return;
    work.group = static_cast<double>(local->count());
    work.groups = 1;
    for (std::size_t d = 0; d < global.size.size(); ++d)
        work.groups *= std::ceil(static_cast<double>(global.size[d]) / static_cast<double>(local->size[d]));
}

PoclContainer with_loaded(PoclContainer container, const std::vector<std::string>& loaded) {
    if (container.folder.empty()) return container;
    const auto folder = "/" + container.folder;
    for (const auto& file : loaded) {
        const auto at = file.find(folder + "/");
        if (at == std::string::npos) continue;
        const auto path = file.substr(at + folder.size());
        if (std::ranges::any_of(container.entries, [&](const auto& e) { return e.path == path; })) continue;
        const auto text = read_file(file).value_or("");
        if (text.empty()) continue;
        const auto bytes = as_bytes(text);
        container.files.push_back(std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end()));
        container.entries.push_back({path, *container.files.back(), true});
    }
    return container;
}

std::vector<std::string> loaded_objects() {
    std::vector<std::string> files;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* list) {
            static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name ? info->dlpi_name : "");
            return 0;
        },
        &files);
    return files;
}

// PoCL's container. The header and the per-kernel metadata grew between format versions 6 and 12. The file records (u32
// length, path from the cache folder, u32 length, content) did not change, so the code searches for them.

PoclContainer read_poclbin(ByteSpan binary) {
    using namespace std::string_view_literals;
    PoclContainer container;
    if (!as_text(binary).starts_with("poclbin\0"sv) || binary.size() < header_size) return container;
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

IntelCpuCode choose_intel_cpu_code(const Elf& object, const std::string& kernel, const LaunchSize& launch) {
    for (const auto& symbol : object.symbols) {
        const unsigned lanes = lanes_of(symbol.name, kernel);
        if (lanes == 0) continue;
        const std::string name(symbol.name), width = concat("the function of ", lanes, " work-items at a time");
        if (launch.local.dims == 0)
            return {name, concat(width, "; the driver chose the local size, and where ", lanes,
                                 " does not divide it, '", kernel, "' ran")};
        if (launch.local.size[0] % lanes == 0) return {name, width};
        return {kernel, concat("the function of one work-item at a time: ", lanes, " does not divide the local size ",
                               launch.local.text())};
    }
    return {kernel, {}};
}

}  // namespace cllab::inspect
