// What a user's kernel is held against, from the surest to the least: an expected file, a reference kernel, a command
// of the user's, the other variants, another device, relations, and only itself.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "kernelfile/data/data.hpp"
#include "kernelfile/description.hpp"
#include "kernelfile/proof/relation.hpp"
#include "model/experiment.hpp"
#include "model/kernel_signature.hpp"

namespace cllab::kernelfile {

// What others than the lab's own checks say of a kernel's results before it runs: a command of the user's, and another
// device.
/// An argument as others than the kernel are given it: an array of NumPy's.
struct ArgumentArray {
    std::string name;
    model::ElementType element;
    std::vector<std::size_t> shape;  ///< lanes of a vector, and bytes of a struct, are the last dimension
    model::SharedBytes data{};       ///< nothing: it only comes out
    bool comes_out = false;
};

/// What a command said of one set of inputs.
struct Answer {
    std::map<std::string, model::Bytes, std::less<>> contents{};  ///< by result
    std::string trouble{};                                        ///< why there is none, in a sentence
    std::string remark{};                                         ///< on it, for whoever leaves something else
};

/// What another device left of the same data.
struct Agreement {
    enum class Kind { agrees, differs, unknown };
    Kind kind = Kind::unknown;
    std::string device{};    ///< agrees: which one, and at which point: "Oclgrind at n=1024"
    std::string sentence{};  ///< how they differ, or why nothing is known; agrees: what else was seen, or nothing
};

struct Answers {
    std::map<std::string, Answer> by_command{};    ///< by key_of() what went in
    std::map<std::string, Agreement> by_device{};  ///< by CellArguments::agreement_key
};

/// By all that goes in, and by the shapes of what comes out.
std::string key_of(const std::vector<ArgumentArray>& arguments);

/// What stands before the data in a file of NumPy's.
std::string npy_header(const ArgumentArray& argument);

/// The result `like` as the .npy file `path` holds it. Throws Error(usage), beginning with `whose`, for a file that is
/// damaged, and for another type or number of elements.
model::Bytes read_result(const std::filesystem::path& path, const ArgumentArray& like, const std::string& whose);

/// A buffer or image that a kernel leaves behind.
struct Result {
    std::string name;
    model::ElementType type;        ///< of its elements, in lanes
    model::SharedBytes given{};     ///< what it holds before, where that is no poison
    model::SharedBytes expected{};  ///< by a line `expect`, after one operation
    std::string by{};               ///< that: "file gold.npy"
    bool may_stay = false;          ///< by a line `may leave`: what is given may be right as it is
    bool is_guessed = false;        ///< may_stay is so because what is given was guessed
    bool is_rounded = false;        ///< an image whose whole numbers stand for fractions
};

/// What all cells of one comparison have left so far. In one process: cells of an isolated run share it.
class Ledger {
public:
    struct Question {
        std::string comparison;  ///< equal for cells whose results may be held against each other
        std::string alike;       ///< of one comparison, those with the same text here must leave the same
        std::string variant, point;
        std::vector<Result> results;
        Tolerance tolerance;
        std::uint64_t seed = 0;
        bool accumulates = false, random_inputs = false, is_reference = false;
        std::string reference{};               ///< name of the reference variant; empty: none
        bool reference_is_copy = false;        ///< it has the same text, and is in another file
        bool reference_accumulates = false;    ///< else it leaves the same after any number of operations
        std::string text{};                    ///< path of its text: another one of the same variant is an earlier one
        std::optional<Answer> answer{};        ///< of the reference command, after one operation
        std::optional<Agreement> agreement{};  ///< with another device
        std::vector<Relation> relations{};
        std::vector<RelationLine> any_order{};       ///< of results; other kinds are left out
        std::set<std::string> differs{};             ///< variants that may leave something else, by a line `differ`
        std::map<std::string, std::string> given{};  ///< what goes in, as it is written, by argument
    };
    /// Model's check: the first thing that is wrong.
    std::optional<std::string> check(const Question& question, const model::Buffers& buffers);
    model::Proof proof(const Question& question) const;
    /// What the cell's code is. Kernels with the same code agree whatever they do.
    void know_code(const Question& question, const std::string& fingerprint);
    /// False when the cell has been checked and left all data that it was given as it was.
    bool changes_given_data(const Question& question) const;

private:
    using Contents = std::map<std::string, model::Bytes, std::less<>>;
    struct Member {
        std::string variant, point, alike, text;
        auto operator<=>(const Member&) const = default;
    };
    /// What some leave of the same data, and all who do.
    struct SharedResult {
        Contents contents;
        Member first;
        std::set<Member> by;
    };
    using Launched = std::pair<std::uint64_t, std::uint64_t>;  ///< seed, operations
    struct Seen {
        std::set<std::uint64_t> seeds;
        std::map<std::uint64_t, std::vector<std::uint64_t>> hashes;  ///< of each result after one operation, by seed
        std::set<std::string> untouched, partly;                     ///< results that hold poison, whole or in part
        std::set<std::string> changed;                               ///< results that are no more what was given
        std::set<std::string> unproved;            ///< of which no file, kernel or command says what is right
        std::set<std::string> empty_relations;     ///< texts of those that tells_nothing() is true of
        std::map<std::string, std::string> given;  ///< Question::given
        std::string disputed_by, dispute, code;    ///< dispute: what differs, where this one came second
        bool wrong = false;                        ///< in one of its checks
        std::string other_results;  ///< how those of two texts differ
    };

    /// What says that a result is this, from the surest: nothing where no file, kernel or command does.
    struct Witness {
        std::span<const std::byte> expected;
        std::string whose;
    };
    std::optional<std::string> judge(const Question& question, const model::Buffers& buffers);
    static std::vector<Witness> witnesses(const Question& question, const Result& result,
                                          const model::Buffers& buffers);
    static bool writes_something(const Question& question, const model::Buffers& buffers, Seen& seen);
    std::optional<std::string> hold_against_others(const Question& question, const std::vector<Result>& unproved,
                                                   const model::Buffers& buffers, model::Errors& errors);
    const Seen* seen_of(const Question& question) const;
    /// Who gave this cell's answers whenever it was asked, itself among them; and who gave others.
    std::pair<std::set<Member>, std::set<Member>> company(const Question& question) const;
    /// What says that its results are right, from the surest.
    std::vector<std::string> proved_by(const Question& question, const Seen& seen) const;
    /// A relation that holds whatever the kernel does: of results that are all 0, or that do not depend on the input.
    static bool is_empty(const Question& question, const Seen& seen, const Relation& relation);
    /// Results that none of that is about.
    static std::vector<std::string> open_results(const Question& question, const Seen& seen);
    const Seen* seen_of_member(const Question& question, const Member& member) const;
    void say_others(const Question& question, const std::set<Member>& others, model::Proof& to) const;

    std::map<std::string, std::map<Launched, std::vector<SharedResult>>> answers_;  ///< by comparison
    std::map<std::tuple<std::string, std::string, std::string>, Seen> seen_;        ///< by comparison, variant, point
    std::deque<std::string> recent_;                                                ///< comparisons, oldest first
};

}  // namespace cllab::kernelfile
