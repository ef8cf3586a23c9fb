#include "inspect/tools/clang.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <regex>
#include <utility>

#include "core/error.hpp"
#include "core/text.hpp"
#include "inspect/isa/isa.hpp"
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

/// A packaged clang, such as zig's, may lack the header of OpenCL's types. Another clang's header nearly always fits.
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
    // -fgnu-keywords: vendors' compilers accept `asm` in OpenCL C; clang needs this option.
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

namespace {

namespace fs = std::filesystem;

/// "clang-14", "clang-15": those on PATH, oldest first.
std::vector<std::string> here() {
    auto out = llvm_names("clang");
    out.pop_back();  // without a number
    std::erase_if(out, [](const auto& name) { return !find_tool({name}); });
    std::ranges::reverse(out);
    return out;
}

ChosenCompiler chosen(const std::string& word) {
    auto path = fs::path(word);
    if (!path.has_filename()) path = path.parent_path();
    ChosenCompiler out{path.filename().string(), {}};
    std::error_code none;
    if (fs::is_directory(path, none)) {
        std::vector<fs::path> assemblers{path / "bin/ptxas"};
        for (fs::directory_iterator i(path / "nvidia", none), end; !none && i != end; i.increment(none))
            assemblers.push_back(i->path() / "bin/ptxas");
        out.ptxas = first_file(assemblers).value_or("");
        out.clang = first_file({path / "ziglang/zig", path / "zig", path / "bin/clang"}).value_or("");
        if (out.clang.empty() && out.ptxas.empty())
            throw Error(Blame::usage, "folder '", word,
                        "' (--compiler) has no ziglang/zig, bin/clang, bin/ptxas or nvidia/*/bin/ptxas");
    } else if (word.find('/') != word.npos && fs::is_regular_file(path, none)) {
        (out.name.starts_with("ptxas") ? out.ptxas : out.clang) = path;
    } else if (word.starts_with("clang")) {
        out.clang = find_tool({word}).value_or("");
        if (out.clang.empty())
            throw Error(Blame::environment, "compiler '", word, "' not found on PATH; the compilers there are ",
                        here().empty() ? "none" : join(here(), ", "));
    } else if (word != "amd_comgr") {
        throw Error(Blame::usage, "unknown compiler '", word,
                    "'; --compiler takes clang-N, amd_comgr, or the path of a clang, zig or ptxas or of their folder");
    }
    if (out.clang.filename() == "zig") out.words = {"clang"};
    return out;
}

}  // namespace

std::vector<ChosenCompiler> chosen_compilers(const std::string& list) {
    std::vector<ChosenCompiler> out;
    std::vector<std::string> words;
    for (const auto& word : split(list, ','))
        for (const auto& each : word == "all" ? here() : std::vector{word}) words.push_back(each);
    for (const auto& word : words) {
        out.push_back(chosen(word));
        if (std::ranges::count(out, out.back().name, &ChosenCompiler::name) > 1)
            throw Error(Blame::usage, "--compiler names two compilers '", out.back().name,
                        "'; their file names must differ");
    }
    if (out.empty()) throw Error(Blame::environment, "--compiler all found no clang-N on PATH");
    return out;
}

std::string version_of(const fs::path& program, const std::vector<std::string>& words) {
    static std::mutex access;
    static std::map<std::pair<fs::path, std::vector<std::string>>, std::string> known;
    const std::lock_guard lock(access);
    const auto [at, is_new] = known.try_emplace({program, words});
    if (!is_new) return at->second;
    auto arguments = words;
    arguments.emplace_back("--version");
    const auto said = run_tool(program, arguments).out;
    static const std::regex version("(?:version |V)([0-9]+\\.[0-9][^\\s]*)");
    std::smatch found;
    // NVIDIA's programs print "release 13.0, V13.0.88".
    if (std::regex_search(said, found, version)) at->second = found[1];
    return at->second;
}

}  // namespace cllab::inspect
