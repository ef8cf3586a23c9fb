// The statements about a kernel file: in its block /*cllab … */, in the file my.cllab next to it, and in command-line
// options. All use one grammar with one statement per line. Statements are only parsed here. Errors give file, line and
// column.
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

/// The value of one argument, e.g. "rand:n*n". Its kind tells which members apply.
struct ArgumentSpec {
    enum class Kind { drawn, rules, output, same, part, local, file, picture, sampler, bytes, fields, numbers, null };
    Place place;
    std::string text;  ///< as written
    Kind kind = Kind::numbers;
    Draw draw = Draw::uniform;
    std::string type{};                ///< element type or image format, if given
    std::vector<Expression> extent{};  ///< one length, or up to three sizes of an image; empty: not given
    /// drawn: what the draw takes, e.g. low and high; part: its origin; numbers: the values of a scalar or vector.
    std::vector<Expression> numbers{};
    std::string path{};                ///< file, picture
    std::vector<std::string> words{};  ///< sampler: its options; same, part: the other argument
    std::vector<std::pair<model::ElementType, std::vector<Expression>>> fields{};  ///< of a struct: types and values
    std::string raw{};                                                             ///< bytes: the bytes themselves
    bool svm = false;                                                              ///< in shared virtual memory
    std::vector<FieldRule> rules;  ///< of structs in an array; no `{}`, because FieldRule is incomplete here

    bool is_random() const { return kind == Kind::drawn && draw >= Draw::uniform; }
};

/// How a field of each struct is drawn, "mass:normal:1:0.1".
struct FieldRule {
    std::string declaration, name;  ///< "float3 position", "position"; declaration: empty if the kernel's text has it
    ArgumentSpec drawn;
};

struct AxisLine {
    Place place;
    std::string name, values;
    bool tune = false;
};

/// An amount of work that a `work` line can declare, and its name there.
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
        permute,    ///< the results stay the same if all arrays in `from` are permuted in the same way
        linear,     ///< k(2a + b) = 2 k(a) + k(b), for any contents a and b of `from`
        sum,        ///< the elements of `of` add up to those of `from`, or to `sum`
        any_order,  ///< rows of `from` may come in any order: proves nothing, but changes how results are compared
    };
    Place place;
    std::string text;  ///< "linear in x"
    Kind kind = Kind::linear;
    std::vector<std::string> from{};
    std::vector<std::size_t> arrays{};  ///< any_order: number of arrays in each of `from`, one after the other
    std::string of{};
    std::optional<Expression> sum{};
};

/// A text, and sizes in up to three dimensions, each with its place.
using Placed = std::pair<Place, std::string>;
using Sizes = std::pair<Place, std::vector<Expression>>;

/// The statements about all kernels of a file, or about the one that a line `kernel NAME` or `sequence NAME` names.
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

/// Kernels and variants that must give the same results, or that may give different ones.
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
    std::vector<std::pair<std::string, Place>> resets;           ///< buffers restored before each operation
    std::vector<std::pair<std::string, Place>> repeated_resets;  ///< buffers restored before each repetition
    Scope scope;
};

/// The axis that sets a kernel's work-group, unless a file declares an axis of that name.
inline constexpr auto group_axis = "local";

/// Values of Scope::expected that are not files: the argument must keep the data it was given, or it may.
inline constexpr auto unchanged = "unchanged", may_leave = "may leave";

struct Description {
    std::vector<AxisLine> axes;
    std::vector<VariantLine> variants;
    std::vector<SameLine> same;
    std::vector<Placed> options, folders;
    std::vector<Placed> includes;  ///< files included before the text
    std::optional<Placed> only;    ///< the kernel that a pattern with only the file's name selects
    std::optional<Tolerance> tolerance;
    bool takes_group = true;  ///< `group_axis` is the work-group, and no file declares it
    Scope all;
    std::map<std::string, std::pair<Place, Scope>> kernels;  ///< also of aliases
    std::map<std::string, std::string> aliases;              ///< by alias in a sequence: the kernel
    std::vector<SequenceLine> sequences;

    /// The kernel that an item of a sequence launches.
    const std::string& kernel_of(const std::string& item) const {
        const auto alias = aliases.find(item);
        return alias == aliases.end() ? item : alias->second;
    }
};

/// Adds the statements of `text` to `to`. `first_line`: the line of `file` where the text begins. Throws Error(usage).
void parse_statements(std::string_view text, const std::string& file, std::size_t first_line, Description& to);

/// Adds one statement of the command line: "arg", "src=rand:n". Throws Error(usage).
void parse_option(const std::string& option, const std::string& value, Description& to);

/// Adds the statements of the blocks /*cllab … */ in a kernel's text. Throws Error(usage), also for an open block.
void parse_blocks(std::string_view text, const std::string& file, Description& to);

/// Merges `over` into `base`. The statements of `over` win.
void override_with(Description& base, const Description& over);
void take_over(Scope& base, const Scope& over);

/// All statements that apply to the kernel. Those about it win over those about all kernels.
Scope scope_of(const Description& description, const std::string& kernel);

}  // namespace cllab::kernelfile
