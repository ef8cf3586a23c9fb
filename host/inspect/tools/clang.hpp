// clang with libclc compiles for GPUs if the vendor's compiler is missing, or does not know them. Its built-in
// functions and its choices are not the vendor's.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "inspect/isa/isa.hpp"

namespace cllab::inspect {

// Compilers that --compiler names, instead of the default ones.
struct ChosenCompiler {
    std::string name;                  ///< "clang-19", "zig"; empty: none was chosen
    std::filesystem::path clang;       ///< empty: the default one
    std::vector<std::string> words{};  ///< leading arguments: "clang" for zig
    std::filesystem::path ptxas{};     ///< empty: the default one
};

/// `list` has "clang-19", "amd_comgr", a program's path, or a folder that `pip install --target` made of ziglang or of
/// NVIDIA's compiler. "all" is every clang-N on PATH, oldest first. Throws Error(usage) for a name that is no compiler,
/// and Error(environment) for a missing compiler.
std::vector<ChosenCompiler> chosen_compilers(const std::string& list);

/// "19.1.7", from the program's output; empty if it prints none. Each program is asked once.
std::string version_of(const std::filesystem::path& program, const std::vector<std::string>& words = {});

/// The newest clang on this machine, or the chosen one, and libclc's library for one kind of target.
struct Clang {
    /// `target`: as in the names of libclc's files, "nvptx64--nvidiacl".
    explicit Clang(const std::string& target, const ChosenCompiler& chosen = {});

    bool is_here() const { return !program.empty() && !library.empty(); }
    /// "clang-19 and libclc"
    std::string name() const { return program.filename().string() + " and libclc"; }
    /// "clang 19.1.7 and libclc"
    std::string name_with_version() const { return "clang " + version_of(program, words) + " and libclc"; }
    /// Whether a program of the same LLVM is in clang's folder.
    bool has(const char* tool) const { return std::filesystem::exists(folder / tool); }
    /// Files that its output depends on.
    std::vector<std::filesystem::path> files() const;
    /// Compiles OpenCL C with `arguments`. If two libraries define a function, the first one counts.
    OfflineCode compile(const std::string& source, const std::vector<std::string>& arguments,
                        const std::vector<std::string>& options, const std::vector<std::filesystem::path>& libraries,
                        std::chrono::milliseconds limit) const;

    std::filesystem::path program, folder, library;  ///< folder: of the program, symbolic links resolved
    std::vector<std::string> words;                  ///< as ChosenCompiler::words
    int version = 0;  ///< 19 of "clang-19"; 0 for a plain "clang", which is not asked

private:
    std::vector<std::string> headers_of_another() const;
};

/// The file and the LLVM libraries that it may load: those in `libraries`, or in the file's own folder.
std::vector<std::filesystem::path> llvm_beside(const std::filesystem::path& file,
                                               const std::filesystem::path& libraries = {});

}  // namespace cllab::inspect
