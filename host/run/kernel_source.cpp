#include "run/kernel_source.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>

#include "core/text.hpp"

namespace cllab::run {
namespace {

std::string read_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw Error(Blame::environment, "kernel file '" + path.string() + "' cannot be read (--cl-dir)");
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
    return text;
}

}  // namespace

KernelSource kernel_source(const std::string& family, const std::filesystem::path& cl_dir) {
    std::string prelude, body, origin;
    if (cl_dir.empty()) {
        prelude = model::embedded_kernel("include/lab.h");
        body = model::embedded_kernel(family);
        origin = "embedded";
    } else {
        const auto path = cl_dir / (family + ".cl");
        body = read_file(path);
        const auto header = cl_dir / "include" / "lab.h";
        prelude = std::filesystem::exists(header) ? read_file(header) : std::string(model::embedded_kernel("include/lab.h"));
        origin = path.string();
    }
    const std::string shown = cl_dir.empty() ? family + ".cl" : origin;
    return {"#line 1 \"lab.h\"\n" + prelude + "\n#line 1 \"" + shown + "\"\n" + body, origin};
}

std::string build_options(const model::Cell& cell, const std::vector<std::string>& setup_defines,
                          const std::vector<std::string>& device_defines, const std::string& extra) {
    std::vector<std::string> parts;
    bool has_standard = extra.find("-cl-std=") != std::string::npos;
    const auto add = [&](const std::string& define) {
        const bool option = !define.empty() && define.front() == '-';
        has_standard = has_standard || (option && define.rfind("-cl-std=", 0) == 0);
        parts.push_back(option ? define : "-D" + define);
    };
    add("KERNEL=" + cell.id);
    add(upper(cell.id));
    for (const auto& define : cell.variant->defines) add(define);
    for (const auto& define : setup_defines) add(define);
    for (const auto& define : device_defines) add(define);
    if (!extra.empty()) parts.push_back(extra);
    if (!has_standard) parts.insert(parts.begin(), "-cl-std=CL1.2");
    return join(parts, " ");
}

}  // namespace cllab::run
