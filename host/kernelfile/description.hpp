// What a user says of a kernel file: the block /*cllab … */ in it, my.cllab beside it, and options of the command line,
// all in one grammar of one statement per line. Parsed here, with file, line and column in each error; nothing is
// evaluated.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelfile/data/drawn_data.hpp"
#include "kernelfile/expression.hpp"
#include "model/experiment.hpp"

namespace cllab::kernelfile {

struct FieldRule;

/// One value for one argument, e.g. "rand:n*n". What of it applies depends on the kind.
struct ArgumentSpec {
    enum class Kind { drawn, rules, output, same, part, local, file, picture, sampler, bytes, fields, numbers, null };
    Place place;
    std::string text;  ///< as written
    Kind kind = Kind::numbers;
    Draw draw = Draw::uniform;
    std::string type{};                ///< element type or image format, where given
    std::vector<Expression> extent{};  ///< one length, or up to three sizes of an image; empty: not given
    /// Drawn: what the draw takes, e.g. low and high; part: where it begins; numbers: those of a scalar or vector.
    std::vector<Expression> numbers{};
    std::string path{};                ///< file, picture
    std::vector<std::string> words{};  ///< of a sampler; same, part: the other
    std::vector<std::pair<model::ElementType, std::vector<Expression>>> fields{};  ///< of a struct: with their values
    std::string raw{};                                                             ///< bytes: the bytes themselves
    bool svm = false;                                                              ///< in shared virtual memory
    std::vector<FieldRule> rules;  ///< of structs in an array; without `{}`, as the type follows

    bool is_random() const { return kind == Kind::drawn && draw >= Draw::uniform; }
};

/// How a field of each struct is drawn, "mass:normal:1:0.1".
struct FieldRule {
    std::string declaration, name;  ///< "float3 position", "position"; declaration: empty where the text has it
    ArgumentSpec drawn;
};

struct AxisLine {
    Place place;
    std::string name, values;
    bool tune = false;
};

/// What a kernel file may say that a launch does, by the name it says it with.
struct WorkName {
    std::string_view name;
    double model::Work::*to;
};
inline constexpr std::array<WorkName, 6> works{{{"bytes", &model::Work::bytes},
                                                {"flops", &model::Work::flops},
                                                {"atomics", &model::Work::atomics},
                                                {"barriers", &model::Work::barriers},
                                                {"local_bytes", &model::Work::local_bytes},
                                                {"chain", &model::Work::chain}}};

/// A property of right results.
struct RelationLine {
    enum class Kind {
        permute,    ///< the results stay the same when the elements of `from`, all in the same way, change places
        linear,     ///< k(2a + b) = 2 k(a) + k(b), for any contents a and b of `from`
        sum,        ///< the elements of `of` add up to those of `from`, or to `sum`
        any_order,  ///< rows of `from` may change places: no proof, but how the results are held against others
    };
    Place place;
    std::string text;  ///< "linear in x"
    Kind kind = Kind::linear;
    std::vector<std::string> from{};
    std::vector<std::size_t> arrays{};  ///< any_order: how many arrays lie in each of `from`, one after the other
    std::string of{};
    std::optional<Expression> sum{};
};

/// A text, and sizes in up to three dimensions, with where they stand.
using Placed = std::pair<Place, std::string>;
using Sizes = std::pair<Place, std::vector<Expression>>;

/// What holds for all kernels of a file, or behind a line `kernel NAME` or `sequence NAME` for that one.
struct Scope {
    std::map<std::string, ArgumentSpec> arguments;
    std::optional<Sizes> global, local, offset;
    std::map<std::string, Expression> work;  ///< by name, as in `works`
    std::map<std::string, Placed> expected;  ///< file, `unchanged` or `may_leave`, by argument
    std::optional<Placed> reference;
    std::vector<RelationLine> relations;
    std::vector<Expression> where;  ///< conditions that hold at every point
};

using model::Tolerance;

struct VariantLine {
    Place place;
    std::string name, options;
};

/// Kernels and variants that are to leave the same, or that may leave something else each.
struct SameLine {
    Place place;
    std::vector<std::string> names;
    bool differ = false;
};

/// Several kernels as one operation, in this order.
struct SequenceLine {
    struct Swap {
        Place place;
        std::string a, b;
    };
    Place place;
    std::string name;
    std::vector<std::pair<std::string, Place>> kernels;          ///< or aliases
    std::optional<Expression> repeat;                            ///< how often the list runs in an operation
    std::vector<Swap> swaps;                                     ///< of buffers, after each repetition
    std::vector<std::pair<std::string, Place>> resets;           ///< buffers that begin each operation with their data
    std::vector<std::pair<std::string, Place>> repeated_resets;  ///< and those that begin each repetition with it
    Scope scope;
};

/// The axis that every kernel has for its work-group, unless something of its file uses an axis of that name.
inline constexpr auto group_axis = "local";

/// Beside a file's name: the argument must come out as it was given, or may.
inline constexpr auto unchanged = "unchanged", may_leave = "may leave";

struct Description {
    std::vector<AxisLine> axes;
    std::vector<VariantLine> variants;
    std::vector<SameLine> same;
    std::vector<Placed> options, folders;
    std::vector<Placed> includes;  ///< files in front of the text
    std::optional<Placed> only;    ///< the kernel that a file means whose name stands alone
    std::optional<Tolerance> tolerance;
    bool takes_group = true;  ///< `group_axis` is the work-group and no axis of the file's own
    Scope all;
    std::map<std::string, std::pair<Place, Scope>> kernels;  ///< also of aliases
    std::map<std::string, std::string> aliases;              ///< of kernels in sequences: which one each is
    std::vector<SequenceLine> sequences;

    /// What an item of a sequence's list launches.
    const std::string& kernel_of(const std::string& item) const {
        const auto alias = aliases.find(item);
        return alias == aliases.end() ? item : alias->second;
    }
};

/// Statements of `text`, whose first line is line `first_line` of `file`, added to `to`. Throws Error(usage).
void parse_statements(std::string_view text, const std::string& file, std::size_t first_line, Description& to);

/// One statement of the command line, "--arg", "src=rand:n".
void parse_option(const std::string& option, const std::string& value, Description& to);

/// The blocks /*cllab … */ of a kernel's text. Throws Error(usage) for one that is not closed.
void parse_blocks(std::string_view text, const std::string& file, Description& to);

/// Takes over what `over` says; it wins where both say something.
void override_with(Description& base, const Description& over);
void take_over(Scope& base, const Scope& over);

/// What is said of the kernel, for all or in lines of its own.
Scope scope_of(const Description& description, const std::string& kernel);

}  // namespace cllab::kernelfile
