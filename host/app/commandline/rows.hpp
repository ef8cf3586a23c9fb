// A command's options as a table with one row each. The parser and --help are generated from it.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "app/commandline/options.hpp"
#include "core/grouped.hpp"

namespace cllab::app {

/// An option, independent of the command that has it.
struct Row {
    std::string name;         ///< long name, and a short one after a comma: "kernel,k"
    std::string value;        ///< name of the value in --help; empty: a switch
    std::string about{};      ///< help text that needs names known at run time; else in options.txt
    std::string otherwise{};  ///< the default that --help shows
    bool repeats = false;
    std::string alone{};  ///< value of the option if none follows
    Strings values{};     ///< with `alone`: globs of accepted values; other words are not a value

    std::string long_name() const { return name.substr(0, name.find(',')); }
};

/// The numbers that an option accepts.
struct Range {
    double low, high;
    std::string possible;  ///< for the message, after "expected"
    bool above_low = false;
};
inline const Range any_seconds{0, 1e6, "seconds above 0, at most 1000000", true};

/// Parse the value of an option. Throw Error(usage) for a value that is not possible.
double number_of(const std::string& option, const std::string& text, const Range& range);
unsigned whole_of(const std::string& option, const std::string& text, const Range& range);
std::string word_of(const std::string& option, const std::string& text, const Strings& possible);
/// Adds NAME=VALUE to `to`, each NAME once.
void add_named(const std::string& option, const std::string& text, Pairs& to);
/// Names separated by commas, converted by report::column_name.
Strings columns_of(const std::string& text);
std::uint64_t seed_of(const std::string& text);
/// Rejects empty arguments, which usually come from unset variables of a script.
void refuse_empty(const Strings& args);

/// The rows of a command with options `Of`. Each row stores its value in a member.
template <class Of>
class Rows {
public:
    using Take = std::function<void(Of&, const std::string&)>;
    struct Entry {
        Row row;
        Take take;
    };

    Rows& add(Row row, Take take) {
        entries_.push_back({std::move(row), std::move(take)});
        return *this;
    }
    Rows& flag(std::string name, bool Of::*to, std::string about = "") {
        return add({std::move(name), "", std::move(about)}, [to](Of& of, const std::string&) { of.*to = true; });
    }
    Rows& text(std::string name, std::string value, std::string Of::*to) {
        return add({std::move(name), std::move(value), "", defaults().*to},
                   [to](Of& of, const std::string& text) { of.*to = text; });
    }
    Rows& word(const std::string& name, std::string value, const Strings& possible, std::string Of::*to) {
        return add({name, std::move(value), "", defaults().*to},
                   [name, to, possible](Of& of, const std::string& text) { of.*to = word_of(name, text, possible); });
    }
    Rows& list(std::string name, std::string value, Strings Of::*to) {
        return add({std::move(name), std::move(value), "", "", true},
                   [to](Of& of, const std::string& text) { (of.*to).push_back(text); });
    }
    Rows& named(std::string name, std::string value, Pairs Of::*to) {
        const auto option = name.substr(0, name.find(','));
        return add({std::move(name), std::move(value), "", "", true},
                   [option, to](Of& of, const std::string& text) { add_named(option, text, of.*to); });
    }
    Rows& columns(Strings Of::*to, std::string about) {
        return add({"columns", "LIST", std::move(about)},
                   [to](Of& of, const std::string& text) { of.*to = columns_of(text); });
    }
    Rows& seed() {
        return add({"seed", "N"}, [](Of& of, const std::string& text) { of.seed = seed_of(text); });
    }
    template <class Member>  // unsigned, or optional of it
    Rows& whole(const std::string& name, std::string value, Range range, Member to) {
        return add({name, std::move(value)},
                   [name, range, to](Of& of, const std::string& text) { of.*to = whole_of(name, text, range); });
    }
    template <class Member>  // double, or optional of it
    Rows& number(const std::string& name, std::string value, Range range, Member to, std::string otherwise) {
        return add({name, std::move(value), "", std::move(otherwise)},
                   [name, range, to](Of& of, const std::string& text) { of.*to = number_of(name, text, range); });
    }
    /// Adds the rows of a base.
    template <class Base>
    Rows& with(const Rows<Base>& base) {
        for (const auto& entry : base.entries())
            add(entry.row, [take = entry.take](Of& of, const std::string& text) { take(of, text); });
        return *this;
    }

    const std::vector<Entry>& entries() const { return entries_; }
    std::vector<Row> rows() const { return mapped(entries_, &Entry::row); }

private:
    static const Of& defaults() {
        static const Of of;
        return of;
    }

    std::vector<Entry> entries_;
};

// Rows that several commands share, so that an option has the same meaning everywhere.
//
// --kernel, --device, --axis: which cells. `devices`: false if --device is not offered.
Rows<CellOptions> choice_rows(bool devices = true);
/// --arg, --global ...: lines of a kernel file's block as options.
Rows<CellOptions> kernel_file_rows();
/// --reference-command, for commands that verify.
Rows<CellOptions> reference_command_rows();
/// --cl-dir, --build-options: which text, and how to build it.
Rows<CellOptions> text_rows();
/// --label, which identifies runs later.
Rows<CellOptions> label_rows();
/// --timeout, --seed.
Rows<CellOptions> process_rows();
/// --markdown, --svg, --png: the table and the ranked chart as files.
Rows<FileOptions> excerpt_rows();
/// --json with or without a file; --force.
Rows<FileOptions> json_rows();
/// --timings.
Rows<Call> timings_rows();
/// --force and, if `appendable` is not empty, --append. `appendable`: what it adds to.
Rows<FileOptions> replace_rows(const std::string& appendable = "");

/// Help for --columns of the table of cells, and of tables with fixed columns.
std::string about_columns();
std::string about_columns(const Strings& names);

}  // namespace cllab::app
