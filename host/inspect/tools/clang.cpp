#include "inspect/tools/clang.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::inspect {

Clang::Clang(const std::string& target, const ChosenCompiler& chosen)
    : program(chosen.clang.empty() ? find_tool(llvm_names("clang")).value_or("") : chosen.clang), words(chosen.words) {
    const std::string file = "clc/" + target + ".bc", called = program.filename().string();
    library = first_file({"/usr/lib/" + file, "/usr/share/" + file, "/usr/local/share/" + file}).value_or("");
    std::error_code failed;
    folder = std::filesystem::canonical(program, failed).parent_path();
    if (!chosen.clang.empty())
        version = static_cast<int>(number_at(version_of(program, words), 0));
    else if (const auto dash = called.rfind('-'); dash != called.npos)
        version = static_cast<int>(number_at(called, dash + 1));
}

std::vector<std::filesystem::path> Clang::files() const {
    auto out = llvm_beside(program, folder / "../lib");
    out.push_back(library);
    return out;
}

std::vector<std::filesystem::path> llvm_beside(const std::filesystem::path& file,
                                               const std::filesystem::path& libraries) {
    std::vector<std::filesystem::path> out{file};
    std::error_code none;
    std::filesystem::directory_iterator i(libraries.empty() ? file.parent_path() : libraries, none), end;
    for (; !none && i != end; i.increment(none))
        if (const auto name = i->path().filename().string();
            name.starts_with("libLLVM") || name.starts_with("libclang-cpp"))
            out.push_back(i->path());
    std::ranges::sort(out);
    return out;
}

/// A packaged clang, as zig's, may come without the header of OpenCL's types, which hardly changes.
std::vector<std::string> Clang::headers_of_another() const {
    if (words.empty()) return {};
    const auto other = find_tool(llvm_names("clang"));
    if (!other) return {};
    const auto resources = trim(run_tool(*other, {"-print-resource-dir"}).out);
    return {"-isystem", resources + "/include"};
}

OfflineCode Clang::compile(const std::string& source, const std::vector<std::string>& arguments,
                           const std::vector<std::string>& options, const std::vector<std::filesystem::path>& libraries,
                           std::chrono::milliseconds limit) const {
    const TempFolder made_in;
    const auto out = made_in.path() / "program";
    // -fgnu-keywords: vendors' compilers take `asm` in OpenCL C, clang only with this.
    auto all = words;
    const auto usual = split(
        "-x cl -fgnu-keywords -nogpulib -fno-caret-diagnostics -Wno-linker-warnings -Xclang -finclude-default-header",
        ' ');
    for (const auto& more : {usual, headers_of_another()}) all.insert(all.end(), more.begin(), more.end());
    for (const auto& linked : libraries)
        all.insert(all.end(), {"-Xclang", "-mlink-builtin-bitcode", "-Xclang", linked.string()});
    if (std::ranges::find(options, "-cl-opt-disable") == options.end()) all.push_back("-O3");
    for (const auto* more : {&arguments, &options}) all.insert(all.end(), more->begin(), more->end());
    all.insert(all.end(), {"-o", out.string(), made_in.write("kernel.cl", as_bytes(source)).string()});
    return made_by_tool(program, run_tool(program, all, limit), made_in, out);
}

}  // namespace cllab::inspect
