#include "app/choose/capture.hpp"

#include <sstream>

#include "core/error.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;
using kernelfile::ArgumentSpec;
using model::Parameter;

std::string need_file(const fs::path& path, const fs::path& folder) {
    const auto refuse = [&](const std::string& why) {
        throw Error(Blame::usage, "'", folder.string(), "' is not a capture of the OpenCL Intercept Layer: ", why);
    };
    std::error_code trouble;
    if (!fs::exists(path, trouble)) refuse("file '" + path.filename().string() + "' not found");
    if (const auto fault = reading_fault(path); !fault.empty())
        refuse("file '" + path.filename().string() + "' cannot be read: " + fault);
    return cllab::read_file(path).value_or("");
}

[[noreturn]] void unusable(const fs::path& path, const std::string& expected, const std::string& found) {
    throw Error(Blame::usage, "file '", path.string(), "': expected ", expected, ", found ", found);
}

/// "24 24 " as "24,24"; all zeros mean none and give "".
std::string sizes_of(const std::string& line, const fs::path& path) {
    std::vector<std::string> out;
    bool all_zero = true;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
        const auto size = parse_integer(word);
        if (!size || *size < 0) unusable(path, "sizes such as '1024 1024 1'", cllab::quoted(line));
        all_zero = all_zero && *size == 0;
        out.push_back(word);
    }
    return all_zero ? "" : join(out, ",");
}

/// The file of argument `index` below `folder`, for any buffer number; empty if there is none.
fs::path buffer_of(const fs::path& folder, std::size_t index, const std::string& what) {
    const auto part = "_Arg_" + std::to_string(index) + "_" + what + "_";
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored))
        if (entry.path().filename().string().find(part) != std::string::npos && entry.path().extension() == ".bin")
            return fs::absolute(entry.path());
    return {};
}

}  // namespace

Capture read_capture(const fs::path& folder) {
    Capture out;
    out.folder = folder;
    out.text_path = (folder / "kernel.cl").string();
    need_file(out.text_path, folder);
    out.kernel = trim(need_file(folder / "kernelName.txt", folder));
    out.options = trim(need_file(folder / "buildOptions.txt", folder));
    const auto path = folder / "worksizes.txt";
    const auto lines = split(need_file(path, folder), '\n');
    if (lines.size() < 3)
        unusable(path, "3 lines (global size, local size, offset)",
                 std::to_string(lines.size() - (lines.back().empty() ? 1 : 0)));
    out.global = sizes_of(lines[0], path);
    out.local = sizes_of(lines[1], path);
    out.offset = sizes_of(lines[2], path);
    if (out.global.empty()) unusable(path, "a global size above 0 on line 1", cllab::quoted(lines[0]));
    return out;
}

kernelfile::Description described(const Capture& capture, const model::KernelSignature& kernel) {
    kernelfile::Description out;
    const kernelfile::Place place{"capture '" + capture.folder.string() + "'", 0, 0};
    const auto list = [&](const std::string& text) { return std::pair(place, kernelfile::parse_list(text, place)); };
    out.all.global = list(capture.global);
    if (!capture.local.empty()) out.all.local = list(capture.local);
    if (!capture.offset.empty()) out.all.offset = list(capture.offset);
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
        const auto& parameter = kernel.parameters[i];
        const auto named = "argument " + std::to_string(i) + " ('" + parameter.name + "')";
        ArgumentSpec spec{place, named};
        if (parameter.is_buffer()) {
            const auto offset = cllab::read_file(capture.folder / ("SVM_Arg_Offset_" + std::to_string(i) + ".txt"));
            if (offset && trim(*offset) != "0")
                kernelfile::refuse(place, named,
                                   " is shared virtual memory at an offset; cllab supports offset 0 only");
            const auto before = buffer_of(capture.folder / "Pre", i, "Buffer"),
                       after = buffer_of(capture.folder / "Post", i, "Buffer");
            if (before.empty()) kernelfile::refuse(place, named, " has no buffer file in folder 'Pre' of the capture");
            spec.kind = ArgumentSpec::Kind::file;
            spec.path = before.string();
            if (!after.empty() && !parameter.is_const) out.all.expected[parameter.name] = {place, after.string()};
        } else if (parameter.kind == Parameter::Kind::value) {
            spec.kind = ArgumentSpec::Kind::bytes;
            spec.raw = need_file(capture.folder / ("Argument" + std::to_string(i) + ".bin"), capture.folder);
        } else if (parameter.kind == Parameter::Kind::image) {
            kernelfile::refuse(place, named, " is an image, whose format the capture lacks; set it with --arg ",
                               parameter.name, "=VALUE (`cllab help kernel-file`)");
        } else {
            continue;  // samplers have a default; captures lack the size of local memory
        }
        out.all.arguments.emplace(parameter.name, std::move(spec));
    }
    return out;
}

}  // namespace cllab::app
