#include "inspect/tools/chosen_compiler.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <regex>

#include "core/error.hpp"
#include "inspect/isa/isa.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::inspect {
namespace {

namespace fs = std::filesystem;

/// What is known of a program by its name.
ChosenCompiler of_program(const std::string& name, const fs::path& program) {
    const auto called = program.filename().string();
    if (called.starts_with("ptxas")) return {name, {}, {}, program};
    if (called == "zig") return {name, program, {"clang"}};
    return {name, program};
}

ChosenCompiler of_folder(const std::string& folder) {
    auto path = fs::path(folder);
    if (!path.has_filename()) path = path.parent_path();
    ChosenCompiler out{path.filename().string(), {}};
    std::vector<fs::path> assemblers{path / "bin/ptxas"};
    std::error_code none;
    for (fs::directory_iterator i(path / "nvidia", none), end; !none && i != end; i.increment(none))
        assemblers.push_back(i->path() / "bin/ptxas");
    if (const auto ptxas = first_file(assemblers)) out.ptxas = *ptxas;
    if (const auto zig = first_file({path / "ziglang/zig", path / "zig"}))
        out.clang = *zig, out.words = {"clang"};
    else if (const auto clang = first_file({path / "bin/clang"}))
        out.clang = *clang;
    if (out.clang.empty() && out.ptxas.empty())
        throw Error(Blame::usage, "folder '", folder,
                    "' (--compiler) has no ziglang/zig, bin/clang, bin/ptxas or nvidia/*/bin/ptxas");
    return out;
}

std::vector<std::string> here() {
    std::vector<std::string> out;
    for (const auto& name : llvm_names("clang"))
        if (find_tool({name}) && name != "clang") out.push_back(name);
    std::ranges::reverse(out);
    return out;
}

ChosenCompiler chosen(const std::string& word) {
    std::error_code ignored;
    if (word == "amd_comgr") return {word, {}};
    if (fs::is_directory(word, ignored)) return of_folder(word);
    if (fs::is_regular_file(word, ignored) && word.find('/') != word.npos)
        return of_program(fs::path(word).filename().string(), word);
    if (!word.starts_with("clang"))
        throw Error(Blame::usage, "there is no compiler '", word,
                    "'; --compiler takes clang-N, amd_comgr, the path of a clang, zig or ptxas, and a folder that has "
                    "one");
    const auto found = find_tool({word});
    if (!found)
        throw Error(Blame::environment, "compiler '", word, "' is not on PATH; there are ",
                    here().empty() ? "none" : join(here(), ", "));
    return of_program(word, *found);
}

}  // namespace

std::vector<ChosenCompiler> chosen_compilers(const std::string& list) {
    std::vector<ChosenCompiler> out;
    for (const auto& word : list == "all" ? here() : split(list, ',')) {
        out.push_back(chosen(word));
        if (std::ranges::count(out, out.back().name, &ChosenCompiler::name) > 1)
            throw Error(Blame::usage, "two compilers of --compiler are called '", out.back().name,
                        "'; results are told apart by that name");
    }
    if (out.empty()) throw Error(Blame::environment, "there is no clang-N on PATH (--compiler all)");
    return out;
}

std::string version_of(const fs::path& program, const std::vector<std::string>& words) {
    static std::mutex access;
    static std::map<fs::path, std::string> known;
    const std::lock_guard lock(access);
    const auto [at, is_new] = known.try_emplace(program);
    if (!is_new) return at->second;
    auto arguments = words;
    arguments.emplace_back("--version");
    const auto said = run_tool(program, arguments).out;
    static const std::regex version("(?:version |V)([0-9]+\\.[0-9][^\\s]*)");
    std::smatch found;
    // NVIDIA's says "release 13.0, V13.0.88".
    if (std::regex_search(said, found, version)) at->second = found[1];
    return at->second;
}

}  // namespace cllab::inspect
