// Makes a model Experiment of kernel files and the statements about them. Later stages treat it as a built-in family.
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

/// One build that the device is asked about: a file with the options of one variant line, or of none.
struct Build {
    std::size_t file = 0;
    std::string variant;  ///< empty: the file as it is
    std::string options;
    std::string setting{};  ///< "VT=double": a later value of an axis of words; empty: the first values
    std::shared_ptr<const model::Text> text{};  ///< with its includes, except from folders that an axis names
    model::Introspection found{};
};

/// Kernels of one file that match a glob over kernels and variants. An empty glob selects the `only` kernel, else all;
/// for launches without the kernels of sequences.
struct KernelPattern {
    std::size_t file = 0;
    std::string glob, as_written;
};

/// The arguments of a cell, for the check by another device or a command.
struct CellArguments {
    std::string agreement_key;  ///< key in Answers::by_device
    std::vector<ArgumentArray> arguments;
    Tolerance tolerance;
    bool random_inputs = false;
    std::vector<RelationLine> any_order{};
    bool reads_normalised = false;  ///< it reads images of a normalised format
};

/// The statements about a kernel, and whether they suffice for a launch.
struct Stated {
    std::size_t build = 0;
    SaidOfKernel said;
    bool is_enough = false;
};

class KernelFiles {
public:
    /// `axes`: settings of --axis, which declare an axis if no line does. `snapshots`: contents to use instead of a
    /// file, by the file's name in patterns. `more_options`: options that each build gets after its own. Throws
    /// Error(usage).
    KernelFiles(const std::vector<std::string>& paths, const Description& command_line,
                const std::vector<std::pair<std::string, std::string>>& axes,
                const std::map<std::string, Snapshot>& snapshots = {}, std::string more_options = {});

    const std::vector<SourceFile>& files() const { return files_; }
    std::size_t index_of(const std::string& path) const;
    /// The builds to introspect. The caller fills in `found`.
    std::vector<Build>& builds() { return builds_; }
    /// The statements about each wanted kernel and its reference, without sequences. Uses the builds at the first axis
    /// values. Throws as experiment().
    std::vector<Stated> stated(const std::vector<KernelPattern>& wanted);
    /// The experiment with all wanted kernels. Throws Error(usage) for invalid statements. If a file does not build,
    /// its text gives the names of its kernels, and their builds will fail. `compared`: the user asked which of the
    /// wanted kernels is faster, so all must give the same results.
    model::Experiment experiment(const std::vector<KernelPattern>& wanted, const LoadPicture& load, Wants wants,
                                 const std::set<std::string>& taken_families, bool compared);
    struct NotBuilt {
        std::string path, log;
    };
    /// The files that do not build with any of their options.
    std::vector<NotBuilt> not_built() const;
    /// The experiment's variants that the pattern selects. Throws Error(usage) if there are none. Call after
    /// experiment().
    std::vector<std::string> variants_of(const KernelPattern& wanted) const;
    /// The id of a variant, <family>_<name>. If the family has several files, the variant's file replaces the family.
    std::string id_of(const model::Experiment& experiment, const model::Variant& variant) const;
    /// The axes that --axis sets.
    std::set<std::string> set_axes() const {
        std::set<std::string> out;
        for (const auto& [name, values] : settings_) out.insert(name);
        return out;
    }
    /// The settings of --axis that these files use.
    std::set<std::string> known_settings() const;
    /// Removes the `settings` that other files use and these do not.
    void leave_to_others(const std::set<std::string>& settings);
    /// Adds statements about a file after its arguments are known. Existing statements win.
    void describe(std::size_t file, const Description& more);
    /// Results of others, which the caller fills in. The experiment's checks and proofs read them.
    Answers& answers() { return *answers_; }
    /// The arguments of a cell. Call after experiment(). Throws as the cell's setup does.
    CellArguments arguments_of(const model::Request& request) const { return arguments_of_(request); }
    /// Remarks for the user, such as the defaults used (one line per file).
    const std::vector<std::string>& notes() const { return notes_; }

private:
    struct Candidate {
        std::size_t build = 0;
        std::string name, entry, plain;  ///< plain: without `_before` or a file's name; entry: kernel or sequence
        const model::KernelSignature* signature = nullptr;
        const std::vector<model::KernelSignature>* kernels = nullptr;  ///< of a sequence: the kernels of its build
        bool is_sequence() const { return kernels != nullptr; }
    };
    /// Whether the text is an earlier version of another file, from a snapshot.
    bool is_earlier(std::size_t file) const { return files_[file].read.path != files_[file].path; }
    /// `all_are_known`: throws Error(usage) for a setting of an axis that nothing uses.
    void declare_axes(bool all_are_known);
    /// `tried`: Bound::groups() by variant.
    void add_group_axes(const std::vector<std::pair<std::string, std::vector<std::string>>>& tried,
                        std::vector<model::Axis>& to) const;
    void make_builds();
    void check_names() const;
    std::string left_out(
        std::size_t file) const;  ///< a message with the kernels of its text that no build contains; empty: none
    bool mentions(const std::string& name) const;
    bool is_built(std::size_t file) const;
    const model::Introspection& kernels_of_text(std::size_t file);
    void make_candidates();
    std::vector<const Candidate*> matching(const KernelPattern& wanted) const;
    std::vector<std::string> options_of(const Build& build) const;
    std::vector<std::filesystem::path> folders_of(const Build& build) const;
    void read_whole(Build& build);
    model::Point first_point(const Scope& said) const;
    std::string at_values(const std::string& options, const Place& place, const model::Point& point) const;
    void check_types() const;
    /// A key per variant, equal if the results must be the same. It always is for the variants of one kernel.
    std::map<std::string, std::string> alike(bool all) const;
    /// By variant: the variants whose results may differ from its own, by a `differ` line.
    std::map<std::string, std::set<std::string>> differing() const;
    /// The variants that the names in a `same` or `differ` line mean. Throws Error(usage) for an unknown name.
    std::set<std::string> named_by(const SameLine& line, std::size_t file) const;
    /// An identifier from the file's name, for families and variants.
    std::string stem_of(std::size_t file) const;
    /// Removes the file's name from the start of a variant's name, because rows show it already. Keeps the name if
    /// another variant has the shorter one.
    void cut_names();
    std::vector<const Candidate*> choose(const std::vector<KernelPattern>& wanted,
                                         const std::set<std::string>& taken_families, model::Experiment& out) const;
    model::Variant variant_of(const Candidate& candidate) const;
    std::shared_ptr<const BoundOperation> bind(const Candidate& candidate, const LoadPicture& load, Wants wants,
                                               std::vector<std::string>& notes) const;
    /// Adds a note for each sampler through which the kernel's reads are undefined. `given`: the text of each argument.
    void note_undefined_reads(const Candidate& candidate, const std::map<std::string, std::string>& given);
    /// Adds the file's sequences as candidates. `kernels`: those of the build.
    void add_sequences(std::size_t build, const std::vector<model::KernelSignature>& kernels);
    /// Whether a sequence lists the kernel. Such a kernel runs alone only if a pattern names it.
    bool is_part_of_sequence(const Candidate& candidate) const;
    /// Whether the glob selects the candidate. For machine code, a sequence's name selects its kernels.
    bool is_meant(const Candidate& candidate, const std::string& glob) const;
    const Candidate& reference_of(const Placed& named, const Candidate& of) const;

    std::string more_options_;
    std::vector<std::pair<std::string, std::string>> settings_;  ///< of --axis
    std::vector<SourceFile> files_;
    std::vector<Description> described_;  ///< by file, with the command line merged in
    std::vector<model::Axis> axes_;
    std::vector<Build> builds_;
    std::vector<Candidate> candidates_;
    bool code_only_ = false;
    std::vector<std::string> notes_;
    std::shared_ptr<Answers> answers_ = std::make_shared<Answers>();
    std::function<CellArguments(const model::Request&)> arguments_of_;
};

}  // namespace cllab::kernelfile
