// clang with libclc, whose built-in functions and choices are not those of a vendor's compiler: makes code for GPUs
// where that one is not here, or does not know them.
#pragma once

#include "inspect/isa/isa.hpp"

namespace cllab::inspect {

/// The newest clang that is here, and what libclc has for one kind of target.
struct Clang {
    /// `target` as libclc's files are named, "nvptx64--nvidiacl".
    explicit Clang(const std::string& target);

    bool is_here() const { return !program.empty() && !library.empty(); }
    /// "clang-19 and libclc"
    std::string name() const { return program.filename().string() + " and libclc"; }
    /// A program of the same LLVM, which stands beside it.
    bool has(const char* tool) const { return std::filesystem::exists(folder / tool); }
    /// OpenCL C to what the arguments say. Of two libraries' definitions the first counts.
    OfflineCode compile(const std::string& source, const std::vector<std::string>& arguments,
                        const std::vector<std::string>& options, const std::vector<std::filesystem::path>& libraries,
                        std::chrono::milliseconds limit) const;

    std::filesystem::path program, folder, library;  ///< folder: where the program is, behind symbolic links
    int version = 0;  ///< 19 of "clang-19"; 0 of a plain "clang", whose version is not asked
};

}  // namespace cllab::inspect
