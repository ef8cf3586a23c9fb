// The choice that a command's patterns make: families of this program, or kernels of the user's files.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/choose/guessing.hpp"
#include "app/commandline/options.hpp"
#include "kernelfile/experiment.hpp"
#include "kernelfile/source.hpp"
#include "model/plan.hpp"
#include "model/registry.hpp"

namespace cllab::app {

/// Whether a pattern names a kernel file, as in my.cl, my.cl:kernel or src/kernels.ocl.
bool names_kernel_file(const std::string& pattern);
/// For a pattern that matches no kernel. Throws Error(usage) if it names a folder, another kind of file, or a missing
/// file. Does nothing for other names.
void refuse_file(const std::string& pattern, const std::string& command);
/// The axes of the other side if --vs compares a variant with itself: "-DX" gives {options, -DX}, "width=16,items=2"
/// gives {width, 16} and {items, 2}. Empty for other values of --vs. Throws Error(usage).
model::Settings other_point(const std::string& versus);
/// Whether --vs means the fastest variant.
bool names_best(const std::string& versus);
/// Whether --vs is a pattern.
bool names_variant(const std::string& versus);

/// Splits a pattern: "a.cl:mm_*" is the file a.cl and the glob mm_*; "a.cl" is the file and an empty glob.
std::pair<std::string, std::string> file_and_glob(const std::string& pattern);

/// Earlier states of kernel files, by the names that patterns use for them.
using Snapshots = std::map<std::string, kernelfile::Snapshot>;

class Choice {
public:
    /// Reads the kernel files in the patterns and --vs. A child process asks the first selected device for their
    /// arguments. `earlier`: states to use instead of the files; `ask`: replaces the device. Throws Error.
    explicit Choice(const CellOptions& invocation, const Snapshots& earlier = {}, const AskDevice& ask = {},
                    kernelfile::Wants wants = kernelfile::Wants::launch);

    /// As model::select; a pattern FILE or FILE:GLOB selects kernels of that file.
    std::vector<model::Selected> select(const std::vector<std::string>& patterns) const;
    /// The cells of the invocation's patterns, without the variant of --vs.
    std::vector<model::Selected> selected() const;
    /// Prints on stderr the defaults and guesses used, and how many cells constraints exclude. Call this after the
    /// points have been checked. `whole`: prints the guessed blocks, else only their sizes.
    void say_defaults(bool whole, double left_out = 0) const;
    /// Whether anything in the kernel's launch was guessed.
    bool is_guessed(const model::Variant& variant) const;
    /// Adds GuessedBlock::unlike of the cell's kernel to the warnings of a record with a time.
    void warn_of_sizes(const model::Cell& cell, model::Record& record) const;
    const std::vector<GuessedBlock>& guessed() const { return guessed_; }  ///< by file
    std::vector<std::string> files() const;                                ///< read for their text
    /// A line of such a file, which is named as in a compiler's message. Empty: no such line.
    std::string source_line(const std::string& file, std::size_t number) const;
    /// The arguments of a cell of a kernel file, for other implementations. Throws as its set-up does.
    kernelfile::CellArguments arguments_of(const model::Request& request) const;
    /// Results from other implementations, for the result checks of such cells.
    kernelfile::Answers& answers(const model::Variant& variant) const;
    /// Keeps the data alive that cells of kernel files point to.
    std::shared_ptr<const void> owner() const {
        return std::make_shared<const std::vector<std::shared_ptr<FileSet>>>(own_);
    }
    /// Throws Error(result) if a kernel file does not build.
    void require_built() const;
    /// The kernel files that do not build.
    std::vector<kernelfile::KernelFiles::NotBuilt> not_built() const;
    bool own() const { return !own_.empty(); }  ///< kernels of the user's files

private:
    /// Kernel files that were read, and the experiment made from them.
    struct FileSet;

    FileSet& own_of(const model::Variant& variant) const;

    CellOptions invocation_;
    std::vector<std::shared_ptr<FileSet>> own_;  ///< empty: families of this program
    std::vector<GuessedBlock> guessed_;
};

/// The cells of the patterns. Without axes only the first point of each variant: most axes are sizes, which do not
/// affect the code.
std::vector<model::Cell> first_cells(const Choice& choice, const std::vector<std::pair<std::string, std::string>>& axes,
                                     const std::vector<std::string>& patterns);
/// The cell with the axes of other_point(versus), which is its label. Throws Error(usage).
std::vector<model::Cell> other_cells(const model::Cell& cell, const std::string& versus);

}  // namespace cllab::app
