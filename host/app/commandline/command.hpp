// A command: its manual, its options, and the function that runs it.
#pragma once

#include <boost/program_options.hpp>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "app/commandline/rows.hpp"

namespace cllab::app {

/// Extent of a help page: one screen, or everything.
enum class Detail { screen, all };

/// Options that belong together. The most common ones come first and are shown on a screen.
struct OptionGroup {
    std::string title;
    Strings often, others;
};
/// An option is in at most one group, for all commands. Help shows options without a group last.
const std::vector<OptionGroup>& option_groups();

/// The text of options.txt on an option: the entry "--OPTION of COMMAND ...", else the entry "--OPTION".
std::string option_text(const std::string& command, const std::string& option);

/// The options as --help prints them: first sentences of the most common ones, or all options in full by group.
std::string options_text(const std::vector<Row>& options, Detail detail);
/// The text up to the first full stop that is followed by a new sentence.
std::string first_sentence(const std::string& text);

/// The text of --help. Empty lines separate the paragraphs of `about`; a screen shows only the first one. The first
/// line of `example` is a command; its output may follow.
struct Manual {
    std::string name;
    std::string synopsis, summary;  ///< for a line of the overview: "PATTERN...", "what limits the time"
    std::string usage, about, example;
    bool passes_on = false;  ///< words after `--` are for another program
};
/// Reads commands/NAME.txt: lines "Usage: ", "Arguments: " and "Summary: ", the paragraphs, and the example after a
/// line "Example:". CMake orders the commands by the line "Place: ".
Manual manual_of(const std::string& name);

struct Command {
    Manual manual;
    std::vector<Row> options;
    /// `argv`: the whole command line, for records; `words`: the words after the command. Returns the exit status.
    std::function<int(const Strings& argv, Strings words)> run;
};

/// All commands, in the order of the overview.
const std::vector<Command>& commands();
/// nullptr if there is no such command.
const Command* find_command(const std::string& name);
Strings command_names();

/// The options in the form that Boost needs.
boost::program_options::options_description described(const std::vector<Row>& options);

/// The help page of a command.
std::string help_of(const Command& command, Detail detail);
/// The page of `cllab COMMAND --help [all]` and `cllab help TOPIC [all]`; "": the overview. Throws Error(usage).
std::string help_text(const std::string& topic, Detail detail);

/// The words as Boost parsed them. `values`: per row, the given values; for a given switch, an empty text.
struct Words {
    Strings positional, passed_on;
    std::vector<Strings> values;
    bool help = false;
};
/// Throws Error(usage) with one sentence.
Words read_words(const Manual& manual, const std::vector<Row>& options, Strings words);

/// `words`: those after --help; "all" asks for everything.
Detail detail_of(const Strings& words);
/// Prints a page. Returns 0.
int print_help(const std::string& page);

/// Converts `words` to the command's options. Throws Error(usage).
template <class Of>
Of options_from(const Rows<Of>& rows, const Words& words, const Strings& argv) {
    Of out;
    out.argv = argv;
    out.patterns = words.positional;
    out.passed_on = words.passed_on;
    for (std::size_t i = 0; i < words.values.size(); ++i)
        for (const auto& value : words.values[i]) rows.entries()[i].take(out, value);
    return out;
}

/// `check` rejects contradictory options and sets values that depend on several options; it throws Error(usage).
template <class Of>
Command make_command(Manual manual, const Rows<Of>& rows, const std::function<void(Of&)>& check,
                     const std::function<int(const Of&)>& run) {
    Command out{std::move(manual), rows.rows(), {}};
    for (auto& row : out.options)
        if (row.about.empty()) row.about = option_text(out.manual.name, row.long_name());
    out.run = [manual = out.manual, options = out.options, rows, check, run](const Strings& argv, Strings words) {
        const auto read = read_words(manual, options, std::move(words));
        if (read.help) return print_help(help_text(manual.name, detail_of(read.positional)));
        auto of = options_from(rows, read, argv);
        of.command = manual.name;
        check(of);
        return run(of);
    };
    return out;
}

/// Throws Error(usage) if the command line has no pattern.
void need_pattern(const Call& call,
                  const std::string& what = "a PATTERN, e.g. 'pitch_*'; `cllab list` prints the kernels");
void refuse_patterns(const Call& call, const std::string& about);

/// Runs the command line and returns the exit status. Throws Error.
int run_command_line(int argc, char** argv);

// Topics of `cllab help TOPIC` in addition to the commands; each topic fits a screen.
inline std::size_t help_width = 100;  ///< maximum columns of help pages; main() sets the terminal's

struct Topic {
    const char *name, *about;
    std::string text() const;  ///< topics/NAME.txt
};

const std::vector<Topic>& topics();

struct ExitStatus {
    int status;
    const char* meaning;
};
extern const std::vector<ExitStatus> exit_statuses;

}  // namespace cllab::app
