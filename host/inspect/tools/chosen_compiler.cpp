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

/// "clang-14", "clang-15" of PATH.
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
            throw Error(Blame::environment, "compiler '", word, "' is not on PATH; there are ",
                        here().empty() ? "none" : join(here(), ", "));
    } else if (word != "amd_comgr") {
        throw Error(Blame::usage, "there is no compiler '", word,
                    "'; --compiler takes clang-N, amd_comgr, the path of a clang, zig or ptxas, and a folder with one");
    }
    if (out.clang.filename() == "zig") out.words = {"clang"};
    return out;
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
