// A command is one row: its manual, its options, and what it does.
#pragma once

#include <boost/program_options.hpp>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "app/commandline/rows.hpp"

namespace cllab::app {

/// How much of a help page: what fits a screen, or everything.
enum class Detail { screen, all };

/// Options that belong together. Those used most come first and are what a screen shows.
struct OptionGroup {
    std::string title;
    Strings often, others;
};
/// An option stands in one group at most, whichever commands have it; the help has those in none at its end.
const std::vector<OptionGroup>& option_groups();

/// What options.txt says of an option of the command: behind a line "--OPTION of COMMAND ...", else "--OPTION".
std::string option_text(const std::string& command, const std::string& option);

/// The options as --help prints them: the first sentence of those used most, or all of them under their groups' titles.
std::string options_text(const std::vector<Row>& options, Detail detail);
/// Up to the first full stop behind which a sentence begins.
std::string first_sentence(const std::string& text);

/// What --help prints. Empty lines separate the paragraphs of `about`, of which a screen shows the first. The first
/// line of `example` is a command; its output may follow.
struct Manual {
    std::string name;
    std::string synopsis, summary;  ///< a line of the overview: "PATTERN...", "what limits the time"
    std::string usage, about, example;
    bool passes_on = false;  ///< what stands behind `--` is for another program
};
/// What commands/NAME.txt says: lines "Usage: ", "Arguments: " and "Summary: ", the paragraphs, and behind a line
/// "Example:" the example. By its line "Place: " CMake puts the command among the others.
Manual manual_of(const std::string& name);

struct Command {
    Manual manual;
    std::vector<Row> options;
    /// `argv`: the whole command line, for records; `words`: what stands behind the command. Returns the exit status.
    std::function<int(const Strings& argv, Strings words)> run;
};

/// All commands, in the order of the overview.
const std::vector<Command>& commands();
/// Nothing when there is no such command.
const Command* find_command(const std::string& name);
Strings command_names();

/// The options as Boost reads them.
boost::program_options::options_description described(const std::vector<Row>& options);

/// The page of a command.
std::string help_of(const Command& command, Detail detail);
/// `cllab COMMAND --help [all]` and `cllab help TOPIC [all]`; the overview for "". Throws Error(usage).
std::string help_text(const std::string& topic, Detail detail);

/// What Boost read: the values given, by row; of a switch that is given, an empty one.
struct Words {
    Strings positional, passed_on;
    std::vector<Strings> values;
    bool help = false;
};
/// Throws Error(usage) with one sentence.
Words read_words(const Manual& manual, const std::vector<Row>& options, Strings words);

/// `words` stand behind --help: "all" asks for everything.
Detail detail_of(const Strings& words);
/// Prints a page. Returns 0.
int print_help(const std::string& page);

/// `words` as the command's options. Throws Error(usage).
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

/// `check` refuses what does not go together, and sets what follows from several options; it throws Error(usage).
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

/// Throws Error(usage) where the command line names nothing to work on.
void need_pattern(const Call& call,
                  const std::string& what = "a PATTERN, e.g. 'pitch_*'; `cllab list` shows what there is");
void refuse_patterns(const Call& call, const std::string& about);

/// Runs what the command line asks for; returns the exit status. Throws Error.
int run_command_line(int argc, char** argv);

// What `cllab help TOPIC` explains beside the commands: each topic fits a screen.
inline std::size_t help_width = 100;  ///< columns of every page of the help, at most; main() knows the terminal

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
