#include "inspect/pocl_code.hpp"

#include <algorithm>

namespace cllab::inspect {
namespace {

/// "64-4-1-goffs0" of "/vadd/64-4-1-goffs0/vadd.so"; empty when the path has another shape.
std::string specialisation(const std::string& path, const std::string& kernel) {
    const std::string prefix = "/" + kernel + "/";
    if (!path.starts_with(prefix) || !path.ends_with(".so")) return {};
    const auto slash = path.find('/', prefix.size());
    return slash == std::string::npos ? std::string{} : path.substr(prefix.size(), slash - prefix.size());
}

/// "64x4x1" of "64-4-1-goffs0-smallgrid".
std::string local_text(const std::string& folder) {
    std::size_t dashes = 0, i = 0;
    for (; i < folder.size() && dashes < 3; ++i) dashes += folder[i] == '-';
    std::string size = folder.substr(0, dashes == 3 ? i - 1 : i);
    std::replace(size.begin(), size.end(), '-', 'x');
    return size;
}

}  // namespace

PoclCode choose_pocl_code(const PoclContainer& container, const std::string& kernel, const model::Extent& local) {
    const PoclEntry* generic = nullptr;
    std::vector<const PoclEntry*> special, all;
    std::string wanted;
    for (unsigned i = 0; i < 3; ++i) wanted += (i ? "-" : "") + std::to_string(local.size[i]);
    for (const auto& entry : container.entries) {
        const std::string folder = specialisation(entry.path, kernel);
        if (folder.empty()) continue;
        all.push_back(&entry);
        if (folder.starts_with("0-0-0"))
            generic = &entry;
        else if (local.dims == 0 || folder == wanted || folder.starts_with(wanted + "-"))
            special.push_back(&entry);
    }

    const PoclEntry* chosen = generic;
    std::string label = "generic work-group function";
    // PoCL marks code that assumes few work-items with -smallgrid; a timed launch is rarely that small, so the shorter
    // name wins when the cache holds both. Without a local size several specialisations leave the question open.
    if (!special.empty() && (local.dims != 0 || special.size() == 1)) {
        chosen = *std::min_element(special.begin(), special.end(),
                                   [](auto* a, auto* b) { return a->path.size() < b->path.size(); });
        const std::string folder = specialisation(chosen->path, kernel);
        label = "work-group function specialised for local size " + local_text(folder) + " (" + folder + ")";
    } else if (local.dims != 0) {
        label += ", not specialised for local size " + local.text();
    }

    PoclCode code;
    if (!chosen) return code;
    code.path = chosen->path;
    code.content = chosen->content;
    code.label = label;
    code.symbol = "_pocl_kernel_" + kernel + "_workgroup";
    for (const auto* entry : all)
        if (entry != chosen) code.others.push_back(entry->path);
    return code;
}

}  // namespace cllab::inspect
