#include "kernelfile/source.hpp"

#include <algorithm>
#include <optional>

#include "core/kernel_text.hpp"
#include "core/text.hpp"
#include "device/spirv.hpp"
#include "kernelfile/data/data.hpp"
#include "model/registry.hpp"

namespace cllab::kernelfile {
namespace {

namespace fs = std::filesystem;

/// Whether a file exists. True for a pipe or a device, too: reading it is then refused. A driver would wait for it.
bool is_there(const fs::path& path) {
    std::error_code ignored;
    const auto found = fs::status(path, ignored);
    return fs::exists(found) && !fs::is_directory(found);
}

std::string read_limited(const fs::path& path, const Place& place, std::size_t most_mib, const char* what) {
    const auto bytes = read_bytes(path, place);
    if (bytes.size() > most_mib << 20)
        refuse(place, "'", path.string(), "' is larger than ", most_mib, " MiB, the limit for ", what);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A compiled program as text. Refuses invalid programs, because some drivers crash on them.
std::string read_program(const std::string& path, const Place& place) {
    const auto bytes = read_limited(path, place, 7, "a compiled program");
    if (path.ends_with(".spv") || is_spirv(bytes))
        if (const auto fault = device::read_spirv(bytes).fault; !fault.empty())
            refuse(place, "it is not a SPIR-V module for OpenCL: it ", fault);
    if (path.ends_with(".ptx") && !is_ptx(bytes))
        refuse(place, "it is not PTX, which begins with .version and .target");
    return text_of_program(bytes);
}

std::string read_text(const fs::path& path, const Place& place) {
    auto text = read_limited(path, place, 16, "kernel text");
    // Some programs, such as the OpenCL Intercept Layer, write the zero byte that ends a C string. Drivers ignore all
    // text after it, such as the kernels that cllab adds to query the sizes of types.
    text.resize(text.find_last_not_of('\0') + 1);
    if (const auto at = text.find('\0'); at != std::string::npos)
        refuse(place, "'", path.string(), "' has a zero byte at ", at, ", which a kernel's source cannot contain");
    return text;
}

/// The text of a file, read on first use.
const std::string& text_of(Contents& files, const std::string& path, const Place& place) {
    const auto known = files.find(path);
    return known != files.end() ? known->second : files.emplace(path, read_text(path, place)).first->second;
}

}  // namespace

SourceFile read_source(Snapshot snapshot) {
    SourceFile out;
    out.path = snapshot.path;
    out.read = std::move(snapshot);
    const auto& path = out.path;
    std::size_t number = 0;
    const Place place{"kernel file '" + path + "'", 0, 0};
    if (names_program(path) && !out.read.files.count(path)) out.read.files[path] = read_program(path, place);
    const auto& text = text_of(out.read.files, path, place);
    for (const auto& line : split(text, '\n')) {
        ++number;
        const auto at = line.find("enqueue_kernel(");
        if (at != std::string::npos && line.find("//") > at)
            refuse({path, number, at + 1},
                   "device-side enqueue is not supported: cllab neither times nor checks kernels that a kernel starts");
    }
    parse_blocks(text, path, out.description);
    const auto block_file = fs::path(path).replace_extension(".cllab").string();
    if (out.read.files.count(block_file) || is_there(block_file)) {
        Description more;
        parse_statements(text_of(out.read.files, block_file, {"'" + block_file + "'", 0, 0}), block_file, 1, more);
        override_with(out.description, more);
    }
    return out;
}

model::Text whole_text(SourceFile& file, const std::vector<fs::path>& folders) {
    const std::string lab = "lab.h";
    const auto find = [&](const std::string& name, const std::string& includer) -> std::optional<IncludedFile> {
        if (name == lab) return IncludedFile{lab, std::string(model::embedded_kernel("include/lab.h"))};
        std::vector<fs::path> places{fs::path(includer).parent_path()};
        places.insert(places.end(), folders.begin(), folders.end());
        places.emplace_back();  // the current folder, for a text without a folder
        for (const auto& place : places) {
            const auto path = (place / name).lexically_normal().string();
            if (file.read.files.count(path) || is_there(path))
                return IncludedFile{
                    path, text_of(file.read.files, path, {"'" + path + "', which '" + includer + "' includes,", 0, 0})};
        }
        return std::nullopt;
    };
    auto whole = closure_of(file.read.path, file.text(), find);
    const bool asks = std::ranges::find(whole.files, lab) != whole.files.end();
    return {file.read.path, std::move(whole.text), asks};
}

}  // namespace cllab::kernelfile
