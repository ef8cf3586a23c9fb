// The NVPTX path of clang: triple nvptx64-nvidia-nvcl, which writes the same ".target sm_80, texmode_independent" as
// NVIDIA's driver, with libclc for the built-in functions. libclc's get_global_id leaves the global offset out, so this
// PTX is for reading and for counting registers, not for launching.
#include <algorithm>
#include <charconv>

#include "core/text.hpp"
#include "inspect/offline.hpp"
#include "inspect/tool.hpp"

namespace cllab::inspect {
namespace {

std::optional<std::filesystem::path> libclc() {
    for (const char* folder : {"/usr/lib/clc", "/usr/share/clc", "/usr/local/share/clc"}) {
        const auto file = std::filesystem::path(folder) / "nvptx64--nvidiacl.bc";
        std::error_code failed;
        if (std::filesystem::exists(file, failed)) return file;
    }
    return std::nullopt;
}

std::optional<std::filesystem::path> clang() { return find_tool(llvm_names("clang")); }

/// "clang-15" is version 15; 0 for a plain "clang", whose version is not asked: it then compiles for sm_80.
int version_of(const std::filesystem::path& compiler) {
    const std::string name = compiler.filename().string();
    const auto dash = name.rfind('-');
    int version = 0;
    if (dash != std::string::npos) std::from_chars(name.data() + dash + 1, name.data() + name.size(), version);
    return version;
}

/// The newest processor of the family that this clang knows: 14 and 15 end at sm_86, 16 at sm_90 (LLVM release notes).
int nearest_processor(int version, int sm) {
    return sm <= 86 && sm != 87 ? sm : version >= 16 && sm <= 90 ? sm : version >= 16 ? 90 : 80;
}

}  // namespace

std::string ptx_compiler_missing() {
    if (!clang()) return "PTX needs clang with libclc: apt-get install clang-15 libclc-15";
    if (!libclc()) return "PTX needs libclc's nvptx64--nvidiacl.bc: apt-get install libclc-15";
    return {};
}

PtxBuild compile_ptx(int sm, const std::string& source, const std::vector<std::string>& options) {
    PtxBuild build;
    const auto compiler = clang();
    const auto library = libclc();
    if (!compiler || !library) return build;
    build.made_for = "sm_" + std::to_string(nearest_processor(version_of(*compiler), sm));

    build.made_by = compiler->filename().string() + " and libclc, not NVIDIA's compiler";

    const TempFolder folder;
    const auto text = folder.write("kernel.cl", as_bytes(source));
    const auto ptx = folder.path() / "program.ptx";
    // -fgnu-keywords: NVIDIA's compiler takes `asm` in OpenCL C, clang only with this.
    std::vector<std::string> arguments{"-x",
                                       "cl",
                                       "-fgnu-keywords",
                                       "-target",
                                       "nvptx64-nvidia-nvcl",
                                       "-nogpulib",
                                       "-Xclang",
                                       "-target-cpu",
                                       "-Xclang",
                                       build.made_for,
                                       "-Xclang",
                                       "-finclude-default-header",
                                       "-Xclang",
                                       "-mlink-builtin-bitcode",
                                       "-Xclang",
                                       library->string(),
                                       "-S",
                                       "-fno-caret-diagnostics",
                                       "-fno-dwarf-directory-asm",  // ptxas takes no `.file` with a folder of its own
                                       "-Wno-linker-warnings",
                                       "-o",
                                       ptx.string()};
    if (std::find(options.begin(), options.end(), "-cl-opt-disable") == options.end()) arguments.push_back("-O3");
    for (const auto& option : options)
        if (!option.starts_with("-cl-nv-")) arguments.push_back(option);
    arguments.push_back(text.string());
    const ToolResult result = run_tool(*compiler, arguments, std::chrono::seconds(60));
    const std::string prefix = folder.path().string() + "/";
    build.log = result.err;
    for (auto at = build.log.find(prefix); at != std::string::npos; at = build.log.find(prefix, at))
        build.log.erase(at, prefix.size());
    if (!result.ok()) {
        if (build.log.empty()) build.log = compiler->filename().string() + " " + result.failure() + "\n";
        return build;
    }
    if (auto made = read_file(ptx)) build.ptx = std::move(*made), build.ok = !build.ptx.empty();
    return build;
}

}  // namespace cllab::inspect
