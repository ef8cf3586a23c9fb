#include "run/kernel_source.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>

#include "core/text.hpp"
#include "device/quirks.hpp"

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

/// LAB_GROUP_X, _Y and _Z when all launches share one local size that the device takes only from a kernel that promises it.
std::vector<std::string> promised_group(const model::Setup& setup, const model::Device& device) {
    std::vector<model::Extent> locals;
    for (const auto& step : setup.steps) {
        if (const auto* launch = std::get_if<model::Launch>(&step)) locals.push_back(launch->local);
    }
    if (locals.empty()) locals.push_back(setup.local);
    const auto& local = locals.front();
    const bool shared = std::all_of(locals.begin(), locals.end(), [&](const auto& l) { return l.dims > 0 && l.size == local.size; });
    if (!shared || local.count() <= device.max_group) return {};
    return {"LAB_GROUP_X=" + std::to_string(local.size[0]), "LAB_GROUP_Y=" + std::to_string(local.size[1]),
            "LAB_GROUP_Z=" + std::to_string(local.size[2])};
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

std::string build_options(const model::Cell& cell, const model::Setup& setup, const model::Device& device,
                          const std::string& users_own) {
    std::vector<std::string> parts;
    bool has_standard = users_own.find("-cl-std=") != std::string::npos;
    const auto add = [&](const std::string& define) {
        const bool option = !define.empty() && define.front() == '-';
        has_standard = has_standard || (option && define.rfind("-cl-std=", 0) == 0);
        parts.push_back(option ? define : "-D" + define);
    };
    const auto add_all = [&](const std::vector<std::string>& defines) {
        for (const auto& define : defines) add(define);
    };
    add("KERNEL=" + cell.id);
    add(upper(cell.id));
    add_all(cell.variant->defines);
    add_all(setup.defines);
    add_all(promised_group(setup, device));
    add_all(device::device_defines(device));
    for (const auto& extra : {device::extra_build_options(device), users_own})
        if (!extra.empty()) parts.push_back(extra);
    if (!has_standard) parts.insert(parts.begin(), "-cl-std=CL1.2");
    return join(parts, " ");
}

}  // namespace cllab::run
