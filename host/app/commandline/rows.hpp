// A command's options as a table: one row each, from which the parser and --help are made.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "app/commandline/options.hpp"
#include "core/grouped.hpp"

namespace cllab::app {

/// What is known of an option without the command it belongs to.
struct Row {
    std::string name;         ///< long name, and a short one behind a comma: "kernel,k"
    std::string value;        ///< what --help calls the value; empty: a switch
    std::string about{};      ///< sentences with names in them that are known at run time; else options.txt has them
    std::string otherwise{};  ///< the default that --help shows
    bool repeats = false;
    std::string alone{};  ///< the value where none stands behind it
    Strings values{};     ///< with `alone`: globs of a value, so that anything else is none

    std::string long_name() const { return name.substr(0, name.find(',')); }
};

/// Whole numbers, or numbers, that an option takes.
struct Range {
    double low, high;
    std::string possible;  ///< in words, behind "possible are"
    bool above_low = false;
};
inline const Range any_seconds{0, 1e6, "seconds above 0, at most 1000000", true};

/// The value of an option. Throw Error(usage) for one that is not possible.
double number_of(const std::string& option, const std::string& text, const Range& range);
unsigned whole_of(const std::string& option, const std::string& text, const Range& range);
std::string word_of(const std::string& option, const std::string& text, const Strings& possible);
/// Adds NAME=VALUE to `to`, each NAME once.
void add_named(const std::string& option, const std::string& text, Pairs& to);
/// Names with commas between, as report::column_name.
Strings columns_of(const std::string& text);
std::uint64_t seed_of(const std::string& text);
/// An empty argument is a variable of a script that was not set.
void refuse_empty(const Strings& args);

/// The rows of a command whose options are an `Of`, each with the member that its value goes to.
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
    template <class Member>  // unsigned, or one that may be absent
    Rows& whole(const std::string& name, std::string value, Range range, Member to) {
        return add({name, std::move(value)},
                   [name, range, to](Of& of, const std::string& text) { of.*to = whole_of(name, text, range); });
    }
    template <class Member>  // double, or one that may be absent
    Rows& number(const std::string& name, std::string value, Range range, Member to, std::string otherwise) {
        return add({name, std::move(value), "", std::move(otherwise)},
                   [name, range, to](Of& of, const std::string& text) { of.*to = number_of(name, text, range); });
    }
    /// The rows that it has in common with others.
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

// Rows that several commands have, so that an option means the same wherever it stands.
/// --kernel, --device, --axis: which cells. `devices`: false where only one device will do.
Rows<CellOptions> choice_rows(bool devices = true);
/// --arg, --global ...: what a kernel file says of its kernels, also on the command line.
Rows<CellOptions> kernel_file_rows();
/// For commands that verify and ask it before: --reference-command.
Rows<CellOptions> reference_command_rows();
/// --cl-dir, --build-options: which text, built how.
Rows<CellOptions> text_rows();
/// --label, to tell runs apart later.
Rows<CellOptions> label_rows();
/// --timeout, --seed.
Rows<CellOptions> process_rows();
/// --markdown, --svg: the table and the ranked chart in files of their own.
Rows<FileOptions> excerpt_rows();
/// --json alone, or with a file; --force.
Rows<FileOptions> json_rows();
/// --timings.
Rows<Call> timings_rows();
/// --force and --append, with what the latter adds to.
Rows<FileOptions> replace_rows(const std::string& appendable = "");

/// --columns of the table of cells, and of tables whose columns are always the same.
std::string about_columns();
std::string about_columns(const Strings& names);

}  // namespace cllab::app
