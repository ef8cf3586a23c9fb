// Compilers that --compiler names, in the place of the one that is taken by itself.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cllab::inspect {

struct ChosenCompiler {
    std::string name;                  ///< "clang-19", "zig"; empty: none is chosen
    std::filesystem::path clang;       ///< empty: the one that is taken without a choice
    std::vector<std::string> words{};  ///< that it wants in front: "clang" for zig
    std::filesystem::path ptxas{};     ///< likewise
};

/// "clang-19", "amd_comgr", a program's path, or a folder that `pip install --target` made of ziglang or of NVIDIA's
/// compiler; "all" is every clang-N on PATH, the oldest first. Throws Error, usage for what is no compiler and
/// environment for one that is not here.
std::vector<ChosenCompiler> chosen_compilers(const std::string& list);

/// "19.1.7", as the program says itself; empty where it says none. Asked once.
std::string version_of(const std::filesystem::path& program, const std::vector<std::string>& words = {});

}  // namespace cllab::inspect
