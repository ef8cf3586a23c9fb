// What a command's patterns choose from: the families of this program, or the kernels of the user's own files.
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
/// Throws Error(usage) for what matches no kernel and names a folder, another file, or a file that is not there; does
/// nothing for a name without a file.
void refuse_file(const std::string& pattern, const std::string& command);
/// What stands behind --vs is build options, and no other variant.
bool names_build_options(const std::string& versus);
/// It is the variant that turns out to be the fastest.
bool names_best(const std::string& versus);
/// It is a pattern.
bool names_variant(const std::string& versus);

/// "a.cl:mm_*" is the file a.cl and the glob mm_*, "a.cl" the file and an empty one.
std::pair<std::string, std::string> file_and_glob(const std::string& pattern);

/// States that kernel files had, by the names under which they are patterns.
using Snapshots = std::map<std::string, kernelfile::Snapshot>;

class Choice {
public:
    /// Reads the kernel files among the patterns and --vs, and has a child process ask the first selected device for
    /// their arguments. `earlier`: what is read instead; `ask`: who is asked instead. Throws Error.
    explicit Choice(const CellOptions& invocation, const Snapshots& earlier = {}, const AskDevice& ask = {},
                    kernelfile::Wants wants = kernelfile::Wants::launch);

    /// As model::select; a pattern FILE or FILE:GLOB means kernels of that file.
    std::vector<model::Selected> select(const std::vector<std::string>& patterns) const;
    /// The patterns of the invocation, less what --vs means.
    std::vector<model::Selected> selected() const;
    /// On stderr: the defaults that were taken, and how many cells constraints leave out. When the points are known to
    /// be good.
    void say_defaults(double left_out = 0) const;
    /// Whether anything that its kernel gets is a guess.
    bool is_guessed(const model::Variant& variant) const;
    const std::vector<GuessedBlock>& guessed() const { return guessed_; }  ///< by file
    std::vector<std::string> files() const;                                ///< that were read for their text
    /// Of such a file, whose name is what a compiler says; without the blanks around it. Empty: there is none.
    std::string source_line(const std::string& file, std::size_t number) const;
    /// A cell of a kernel file as somebody else is asked about it. Throws as its set-up does.
    kernelfile::CellArguments arguments_of(const model::Request& request) const;
    /// That others give, for the proofs of such cells.
    kernelfile::Answers& answers(const model::Variant& variant) const;
    /// What cells of kernel files point into, for whoever keeps them longer than the choice.
    std::shared_ptr<const void> owner() const {
        return std::make_shared<const std::vector<std::shared_ptr<Own>>>(own_);
    }
    bool own() const { return !own_.empty(); }  ///< the text is not the lab's

private:
    /// Kernel files that were read, and the experiment made of them.
    struct Own;

    Own& own_of(const model::Variant& variant) const;

    CellOptions invocation_;
    std::vector<std::shared_ptr<Own>> own_;  ///< empty: the families of this program
    std::vector<GuessedBlock> guessed_;
};

/// The cells of the patterns. Without axes the first point of each variant stands for it: most axes are sizes, which do
/// not affect the code.
std::vector<model::Cell> first_cells(const Choice& choice, const std::vector<std::pair<std::string, std::string>>& axes,
                                     const std::vector<std::string>& patterns);

}  // namespace cllab::app
