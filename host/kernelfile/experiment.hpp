// From kernel files and what is said of them to a model Experiment: nothing downstream knows the difference.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "kernelfile/bound.hpp"
#include "kernelfile/description.hpp"
#include "kernelfile/guess/guess.hpp"
#include "kernelfile/proof/proof.hpp"
#include "kernelfile/sequence/sequences.hpp"
#include "kernelfile/source.hpp"
#include "model/experiment.hpp"

namespace cllab::kernelfile {

/// One build that the device is asked about: a file with the defines of one variant line, or none.
struct Build {
    std::size_t file = 0;
    std::string variant;  ///< empty: the file as it is
    std::string options;
    std::string setting{};  ///< "VT=double": at another value of an axis of words; empty: at the first ones
    std::shared_ptr<const model::Text> text{};  ///< with all that it includes from folders that no axis names
    model::Introspection found{};
};

/// Kernels of one file, by a glob over kernels and variants; an empty glob is all of them.
struct Wanted {
    std::size_t file = 0;
    std::string glob, as_written;
};

/// A cell as somebody else is asked about it.
struct CellArguments {
    std::string agreement_key;  ///< what an Agreement about it is kept by
    std::vector<ArgumentArray> arguments;
    Tolerance tolerance;
    bool random_inputs = false;
    std::vector<RelationLine> any_order{};
    bool reads_normalised = false;  ///< images of which it reads floats
};

/// What is said of a kernel, and whether that is all that a launch needs.
struct Stated {
    std::size_t build = 0;
    SaidOfKernel said;
    bool is_enough = false;
};

class KernelFiles {
public:
    /// `axes`: settings of --axis, which declare an axis where no line does. `snapshots`: what stands for files, by
    /// the name under which each is a pattern. `more_options`: that every build gets behind its own. Throws
    /// Error(usage).
    KernelFiles(const std::vector<std::string>& paths, const Description& command_line,
                const std::vector<std::pair<std::string, std::string>>& axes,
                const std::map<std::string, Snapshot>& snapshots = {}, std::string more_options = {});

    const std::vector<SourceFile>& files() const { return files_; }
    std::size_t index_of(const std::string& path) const;
    /// What is to be introspected; `found` is for the caller to fill in.
    std::vector<Build>& builds() { return builds_; }
    /// Of those that are wanted, by their builds without an axis' other words. Throws as experiment().
    std::vector<Stated> stated(const std::vector<Wanted>& wanted);
    /// The experiment of all that is wanted. Throws Error(usage) for what does not fit, Error(result) when nothing
    /// builds.
    /// `compared`: all that is wanted is to leave the same, because somebody asked which of them is faster.
    model::Experiment experiment(const std::vector<Wanted>& wanted, const LoadPicture& load, Wants wants,
                                 const std::set<std::string>& taken_families, bool compared);
    /// Which of the experiment's variants the pattern means; throws Error(usage) for none. After experiment().
    std::vector<std::string> variants_of(const Wanted& wanted) const;
    /// Of a variant of the experiment: by its family, or by its own file where the family is of several.
    std::string id_of(const model::Experiment& experiment, const model::Variant& variant) const;
    /// Settings of --axis that something here uses.
    std::set<std::string> known_settings() const;
    /// Removes those of `settings`, which other files use, that nothing here uses.
    void leave_to_others(const std::set<std::string>& settings);
    /// Says more of a file whose arguments are known by now; what is said already wins.
    void describe(std::size_t file, const Description& more);
    /// What others say of results: the experiment's proofs look there, once it is filled.
    Answers& answers() { return *answers_; }
    /// After experiment(), of one of its cells. Throws as its set-up does.
    CellArguments arguments_of(const model::Request& request) const { return arguments_of_(request); }
    /// Defaults that were taken, one line per file.
    const std::vector<std::string>& notes() const { return notes_; }

private:
    struct Candidate {
        std::size_t build = 0;
        std::string name, entry, plain;  ///< plain: as the file has it; entry: a kernel, or a sequence
        const model::KernelSignature* signature = nullptr;
        const std::vector<model::KernelSignature>* kernels = nullptr;  ///< of a sequence: those of its build
        bool is_sequence() const { return kernels != nullptr; }
    };
    /// Its text is one that another of the files had.
    bool is_earlier(std::size_t file) const { return files_[file].read.path != files_[file].path; }
    /// `all_are_known`: refuses a setting of an axis that nothing uses.
    void declare_axes(bool all_are_known);
    /// `tried`: by variant what Bound::groups says.
    void add_group_axes(const std::vector<std::pair<std::string, std::vector<std::string>>>& tried,
                        std::vector<model::Axis>& to) const;
    void make_builds();
    void check_names() const;
    std::string left_out(
        std::size_t file) const;  ///< of the kernels that stand in its text only; empty: there are none
    bool mentions(const std::string& name) const;
    void make_candidates();
    std::vector<const Candidate*> matching(const Wanted& wanted) const;
    std::vector<std::string> options_of(const Build& build) const;
    std::vector<std::filesystem::path> folders_of(const Build& build) const;
    void read_whole(Build& build);
    model::Point first_point(const Scope& said) const;
    std::string at_values(const std::string& options, const Place& place, const model::Point& point) const;
    void check_types() const;
    /// By variant: equal for those that are to leave the same, which variants of one kernel are.
    std::map<std::string, std::string> alike(bool all) const;
    /// By variant: those that lines `differ` say may leave something else.
    std::map<std::string, std::set<std::string>> differing() const;
    /// Variants that a line `same` or `differ` names. Throws Error(usage) for a name of none.
    std::vector<std::set<std::string>> named_by(const SameLine& line, std::size_t file) const;
    /// Of the file's name, as a family or a variant may be called.
    std::string stem_of(std::size_t file) const;
    /// The file's name stands in front of each row's: one that begins with it is cut, where no other has what is left.
    void cut_names();
    std::vector<const Candidate*> choose(const std::vector<Wanted>& wanted, const std::set<std::string>& taken_families,
                                         model::Experiment& out) const;
    model::Variant variant_of(const Candidate& candidate) const;
    std::shared_ptr<const BoundOperation> bind(const Candidate& candidate, const LoadPicture& load, Wants wants,
                                               std::vector<std::string>& notes) const;
    /// Adds a note for each sampler through which the kernel's reads are undefined. `given`: the text of each argument.
    void note_undefined_reads(const Candidate& candidate, const std::map<std::string, std::string>& given);
    /// Adds the file's sequences, as the build has their kernels.
    void add_sequences(std::size_t build, const std::vector<model::KernelSignature>& kernels);
    /// Kernels that run alone only where somebody names them.
    bool is_part_of_sequence(const Candidate& candidate) const;
    /// For the code of a sequence its kernels stand.
    bool is_meant(const Candidate& candidate, const std::string& glob) const;
    const Candidate& reference_of(const Placed& named, const Candidate& of) const;

    std::string more_options_;
    std::vector<std::pair<std::string, std::string>> settings_;  ///< of --axis
    std::vector<SourceFile> files_;
    std::vector<Description> described_;  ///< by file: with the command line
    std::vector<model::Axis> axes_;
    std::vector<Build> builds_;
    std::vector<Candidate> candidates_;
    bool code_only_ = false;
    std::vector<std::string> notes_;
    std::shared_ptr<Answers> answers_ = std::make_shared<Answers>();
    std::function<CellArguments(const model::Request&)> arguments_of_;
};

}  // namespace cllab::kernelfile
