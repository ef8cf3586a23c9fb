#include "inspect/tools/clang.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::inspect {

Clang::Clang(const std::string& target) : program(find_tool(llvm_names("clang")).value_or("")) {
    const std::string file = "clc/" + target + ".bc", called = program.filename().string();
    library = first_file({"/usr/lib/" + file, "/usr/share/" + file, "/usr/local/share/" + file}).value_or("");
    std::error_code failed;
    folder = std::filesystem::canonical(program, failed).parent_path();
    if (const auto dash = called.rfind('-'); dash != called.npos)
        version = static_cast<int>(number_at(called, dash + 1));
}

OfflineCode Clang::compile(const std::string& source, const std::vector<std::string>& arguments,
                           const std::vector<std::string>& options, const std::vector<std::filesystem::path>& libraries,
                           std::chrono::milliseconds limit) const {
    const TempFolder made_in;
    const auto out = made_in.path() / "program";
    // -fgnu-keywords: vendors' compilers take `asm` in OpenCL C, clang only with this.
    auto all = split(
        "-x cl -fgnu-keywords -nogpulib -fno-caret-diagnostics -Wno-linker-warnings -Xclang -finclude-default-header",
        ' ');
    for (const auto& linked : libraries)
        all.insert(all.end(), {"-Xclang", "-mlink-builtin-bitcode", "-Xclang", linked.string()});
    if (std::ranges::find(options, "-cl-opt-disable") == options.end()) all.push_back("-O3");
    for (const auto* more : {&arguments, &options}) all.insert(all.end(), more->begin(), more->end());
    all.insert(all.end(), {"-o", out.string(), made_in.write("kernel.cl", as_bytes(source)).string()});
    return made_by_tool(program, run_tool(program, all, limit), made_in, out);
}

}  // namespace cllab::inspect
