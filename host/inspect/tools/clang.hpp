// clang with libclc, whose built-in functions and choices are not those of a vendor's compiler: makes code for GPUs
// where that one is not here, or does not know them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "inspect/isa/isa.hpp"

namespace cllab::inspect {

// Compilers that --compiler names, in the place of the one that is taken by itself.
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

/// The newest clang that is here, or the chosen one, and what libclc has for one kind of target.
struct Clang {
    /// `target` as libclc's files are named, "nvptx64--nvidiacl".
    explicit Clang(const std::string& target, const ChosenCompiler& chosen = {});

    bool is_here() const { return !program.empty() && !library.empty(); }
    /// "clang-19 and libclc"
    std::string name() const { return program.filename().string() + " and libclc"; }
    /// "clang 19.1.7 and libclc"
    std::string name_with_version() const { return "clang " + version_of(program, words) + " and libclc"; }
    /// A program of the same LLVM, which stands beside it.
    bool has(const char* tool) const { return std::filesystem::exists(folder / tool); }
    /// What its output depends on.
    std::vector<std::filesystem::path> files() const;
    /// OpenCL C to what the arguments say. Of two libraries' definitions the first counts.
    OfflineCode compile(const std::string& source, const std::vector<std::string>& arguments,
                        const std::vector<std::string>& options, const std::vector<std::filesystem::path>& libraries,
                        std::chrono::milliseconds limit) const;

    std::filesystem::path program, folder, library;  ///< folder: where the program is, behind symbolic links
    std::vector<std::string> words;                  ///< as ChosenCompiler::words
    int version = 0;  ///< 19 of "clang-19"; 0 of a plain "clang", whose version was not asked

private:
    std::vector<std::string> headers_of_another() const;
};

/// The file with the LLVM that it loads, where that is a library in one folder with it.
std::vector<std::filesystem::path> llvm_beside(const std::filesystem::path& file,
                                               const std::filesystem::path& libraries = {});

}  // namespace cllab::inspect
