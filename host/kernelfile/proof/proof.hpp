// The checks of a user's kernel, strongest first: an expected file, a reference kernel, a reference command, the other
// variants, another device, relations. Without any of them, only that results repeat.
#pragma once

#include <algorithm>
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

// Results from outside, obtained before the kernel runs: from a reference command and from another device.
/// An argument as a NumPy array, for a command or another device.
struct ArgumentArray {
    std::string name;
    model::ElementType element;
    std::vector<std::size_t> shape;  ///< lanes of a vector, and bytes of a struct, are the last dimension
    model::SharedBytes data{};       ///< null: it only comes out
    bool comes_out = false;
};

/// The results of the reference command for one set of inputs.
struct Answer {
    std::map<std::string, model::Bytes, std::less<>> contents{};  ///< by result
    std::string trouble{};                                        ///< why there are no results, as a sentence
    std::string remark{};                                         ///< appended to the message if results differ from it
};

/// The comparison with another device's results for the same data.
struct Agreement {
    enum class Kind { agrees, differs, unknown };
    Kind kind = Kind::unknown;
    std::string device{};    ///< agrees: device and point, "Oclgrind at n=1024"
    std::string sentence{};  ///< differs: how; unknown: why; agrees: another remark, or empty
};

struct Answers {
    std::map<std::string, Answer> by_command{};    ///< by key_of() of the inputs
    std::map<std::string, Agreement> by_device{};  ///< by CellArguments::agreement_key
};

/// A hash of all inputs, and of the shapes of the outputs.
std::string key_of(const std::vector<ArgumentArray>& arguments);

/// The header of a .npy file with the argument.
std::string npy_header(const ArgumentArray& argument);

/// The data of the result `like` from the .npy file `path`. Throws Error(usage) if the file is damaged, or has another
/// type or number of elements. The message begins with `whose`.
model::Bytes read_result(const std::filesystem::path& path, const ArgumentArray& like, const std::string& whose);

/// A buffer or image that a kernel may write.
struct Result {
    std::string name;
    model::ElementType type;        ///< of its elements
    model::SharedBytes given{};     ///< contents before the launch; null: poison
    model::SharedBytes expected{};  ///< from a line `expect`, after one operation
    std::string by{};               ///< source of `expected`: "file gold.npy"
    bool may_stay = false;          ///< by a line `may leave`: unchanged data may be right
    bool is_guessed = false;        ///< may_stay because the data was guessed
    bool is_rounded = false;        ///< an image of a normalised format
};

/// The results of all cells of an experiment in this process so far, by comparison.
class Ledger {
public:
    struct Question {
        std::string comparison;  ///< equal for cells whose results can be compared
        std::string alike;       ///< equal for cells of a comparison that must give the same results
        std::string variant, point;
        std::vector<Result> results;
        Tolerance tolerance;
        std::uint64_t seed = 0;
        bool accumulates = false, random_inputs = false, is_reference = false;
        std::string reference{};               ///< name of the reference variant; empty: none
        bool reference_is_copy = false;        ///< the reference has the same text and options
        bool reference_accumulates = false;    ///< else its results do not depend on the number of operations
        std::string text{};                    ///< path of its text; versions of a file differ in it
        std::optional<Answer> answer{};        ///< of the reference command, after one operation
        std::optional<Agreement> agreement{};  ///< with another device
        std::vector<Relation> relations{};
        std::vector<RelationLine> any_order{};       ///< of results; all of this kind
        std::set<std::string> differs{};             ///< variants whose results may differ, by a line `differ`
        std::map<std::string, std::string> given{};  ///< Bound::given()
    };
    /// Checks the results of a cell. Returns the first error, if any.
    std::optional<std::string> check(const Question& question, const model::Buffers& buffers);
    model::Proof proof(const Question& question) const;
    /// Records the fingerprint of the cell's machine code. The agreement of kernels with equal code proves nothing.
    void know_code(const Question& question, const std::string& fingerprint);
    /// False if the cell was checked and changed no data that it was given.
    bool changes_given_data(const Question& question) const;

private:
    using Contents = std::map<std::string, model::Bytes, std::less<>>;
    struct Member {
        std::string variant, point, alike, text;
        auto operator<=>(const Member&) const = default;
    };
    /// One result for some data, and all cells that gave it.
    struct SharedResult {
        Contents contents;
        Member first;
        std::set<Member> by;
    };
    using Launched = std::pair<std::uint64_t, std::uint64_t>;  ///< seed, operations
    struct Seen {
        std::set<std::uint64_t> seeds;
        std::map<std::uint64_t, std::vector<std::uint64_t>> hashes;  ///< of each result after one operation, by seed
        std::set<std::string> untouched, partly;                     ///< results with poison, in whole or in part
        std::set<std::string> changed;                               ///< results that differ from the given data
        std::set<std::string> unproved;            ///< results without a file, kernel or command to compare with
        std::set<std::string> empty_relations;     ///< texts of relations with tells_nothing()
        std::map<std::string, std::string> given;  ///< Question::given
        std::string disputed_by, code;
        bool wrong = false;         ///< in one of its checks
        std::string other_results;  ///< how results of two texts differ

        /// Whether several inputs gave the same results.
        bool ignores_input() const {
            const auto is_first = [&](const auto& of_seed) { return of_seed.second == hashes.begin()->second; };
            return hashes.size() > 1 && std::ranges::all_of(hashes, is_first);
        }
    };

    /// Expected data of a result, from a file, a kernel or a command.
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
    const Seen* seen_of(const Question& question) const {
        return seen_of_member(question, {question.variant, question.point, {}, {}});
    }
    /// The cells that always gave this cell's results, with the cell itself; and the cells that gave other results.
    std::pair<std::set<Member>, std::set<Member>> company(const Question& question) const;
    /// The names of what proves its results, strongest first.
    std::vector<std::string> proved_by(const Question& question, const Seen& seen) const;
    /// Whether the relation proves nothing: all results are 0, or they do not depend on the input.
    static bool is_empty(const Question& question, const Seen& seen, const Relation& relation);
    /// The results that nothing proves.
    static std::vector<std::string> open_results(const Question& question, const Seen& seen);
    const Seen* seen_of_member(const Question& question, const Member& member) const;
    /// The first element that differs from the results of that variant, both values and the number of such elements.
    std::string how_they_differ(const Question& question, const std::string& variant) const;
    void say_others(const Question& question, std::set<Member> others, model::Proof& to) const;

    std::map<std::string, std::map<Launched, std::vector<SharedResult>>> answers_;  ///< by comparison
    std::map<std::tuple<std::string, std::string, std::string>, Seen> seen_;        ///< by comparison, variant, point
    std::deque<std::string> recent_;                                                ///< comparisons, oldest first
};

}  // namespace cllab::kernelfile
