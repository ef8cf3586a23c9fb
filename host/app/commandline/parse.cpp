// Parses the words of the command line into a command and its options.
#include <algorithm>
#include <boost/program_options.hpp>

#include "app/choose/choice.hpp"
#include "app/commandline/command.hpp"
#include "app/commands.hpp"
#include "app/screen/streams.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "core/version.hpp"
#include "model/registry.hpp"
#include "report/table/layout.hpp"

namespace cllab::app {
namespace {

namespace po = boost::program_options;

/// For an option known from other tools: what the command offers instead. Empty if nothing.
std::string habit(const std::string& option, const std::vector<Row>& options) {
    struct Habit {
        Strings words;
        const char *needs, *instead;
    };
    static const Habit all[]{
        {{"-n", "-r", "--runs", "--repeat", "--repetitions", "--iterations", "--samples"},
         "max-time",
         "sampling stops when the time is known; --max-time SECONDS caps it"},
        {{"-w", "--warmup", "--warm-up"}, "max-time", "each kernel is warmed up before it is sampled"},
        {{"-v", "--verbose"}, "columns", "--columns all shows every column"},
        {{"-q", "--quiet", "--silent"}, "json", "--json FILE writes the results for programs"},
        {{"-l", "--list"}, "", "`cllab list` has the kernels, `cllab devices` the devices"},
        {{"-o", "--out", "--output-file"}, "csv", "--json FILE, --csv FILE and --html FILE write records"},
        {{"-d", "--device"}, "wave", "it counts in a simulator, for any device; --wave N says how wide its waves are"},
        {{"--vs"}, "count-budget", "name both; the last line says what they execute differently"},
        {{"-p", "--platform"}, "device", "--device PLATFORM:DEVICE selects both, as `cllab devices` numbers them"}};
    for (const auto& [words, needs, instead] : all)
        if (std::ranges::count(words, option) > 0 &&
            (!*needs || std::ranges::any_of(options, [&](const Row& row) { return row.long_name() == needs; })))
            return instead;
    return "";
}

/// Boost's message, with the nearest option and a pointer to --help.
std::string explain(const Manual& manual, const std::vector<Row>& options, const po::error& e) {
    std::string out = e.what();
    if (const auto* unknown = dynamic_cast<const po::unknown_option*>(&e)) {
        Strings known{"--help"};
        for (const auto& row : options) known.push_back("--" + row.long_name());
        const auto name = unknown->get_option_name(), instead = habit(name, options);
        out = "option '" + name + "' is unknown to `cllab " + manual.name + "`" +
              (instead.empty() ? or_did_you_mean(name, known) : ": " + instead);
    }
    return out + (out.back() == '?' ? " " : ". ") + "See `cllab " + manual.name + " --help`.";
}

/// Boost takes the next word as an option's value, so `--json --no-dumps` would write a file "--no-dumps".
void refuse_missing_values(const Strings& args, const po::options_description& known) {
    const auto option_at = [&](const std::string& arg) {
        const auto name = arg.rfind("--", 0) == 0            ? arg.substr(2)
                          : arg.size() == 2 && arg[0] == '-' ? arg
                                                             : std::string();
        return name.empty() ? nullptr : known.find_nothrow(name, false);
    };
    for (std::size_t i = 0; i + 1 < args.size() && args[i] != "--"; ++i) {
        const auto* option = option_at(args[i]);
        if (option && option->semantic()->max_tokens() > 0 &&
            (args[i + 1].rfind("--", 0) == 0 || option_at(args[i + 1])))
            throw Error(Blame::usage, "option '", args[i], "' needs a value; found '", args[i + 1], "'");
    }
}

/// Gives an option its implicit value if the next word is not one of its values.
void give_values(const std::vector<Row>& options, Strings& words) {
    for (const auto& row : options) {
        if (row.alone.empty()) continue;
        for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
            const bool has_value = i + 1 < words.size() && std::ranges::any_of(row.values, [&](const auto& glob) {
                                       return glob_match(glob, words[i + 1]);
                                   });
            if (words[i] == "--" + row.long_name() && !has_value) words[i] += "=" + row.alone;
        }
    }
}

/// A first word that is not a command is a pattern for `run`. Throws if no kernel or family matches it and the nearest
/// known name is a command.
void refuse_mistyped_command(const std::string& word) {
    if (word.front() == '-' || names_kernel_file(word)) return;
    const auto all = command_names();
    auto known = all;
    for (const auto& experiment : model::registry()) {
        known.push_back(experiment.family);
        for (const auto& variant : experiment.variants) {
            known.push_back(experiment.id(variant));
            if (glob_match(word, known.back()) || word == experiment.family) return;
        }
    }
    if (word.starts_with("completion"))
        throw Error(Blame::usage, "unknown command '", word,
                    "'; the build writes completions for bash, zsh and fish: `source build/completions/cllab.bash`");
    const auto near = nearest(word, known);
    if (!near.empty() && std::ranges::find(all, near.front()) != all.end())
        throw Error(Blame::usage, "unknown command or kernel '", word, "'; ", did_you_mean(word, known));
}

}  // namespace

po::options_description described(const std::vector<Row>& options) {
    po::options_description out;
    auto add = out.add_options();
    add("help,h", "");
    for (const auto& row : options) {
        if (row.value.empty())
            add(row.name.c_str(), "");
        else if (row.repeats)
            add(row.name.c_str(), po::value<Strings>()->composing()->value_name(row.value), "");
        else
            add(row.name.c_str(), po::value<std::string>()->value_name(row.value), "");
    }
    return out;
}

Words read_words(const Manual& manual, const std::vector<Row>& options, Strings words) {
    Words out;
    if (const auto end = std::ranges::find(words, "--"); manual.passes_on && end != words.end()) {
        out.passed_on.assign(end + 1, words.end());
        words.erase(end, words.end());
    }
    give_values(options, words);
    const auto known = described(options);
    po::options_description hidden;
    hidden.add_options()("pattern", po::value<Strings>());
    po::options_description all;
    all.add(known).add(hidden);
    po::positional_options_description positional;
    positional.add("pattern", -1);
    refuse_missing_values(words, known);
    po::variables_map found;
    try {
        using namespace po::command_line_style;
        const int style = (default_style & ~allow_guessing);
        po::store(po::command_line_parser(words).options(all).positional(positional).style(style).run(), found);
        po::notify(found);
    } catch (const po::error& e) {
        throw Error(Blame::usage, explain(manual, options, e));
    }
    out.help = found.count("help") != 0;
    if (found.count("pattern")) out.positional = found["pattern"].as<Strings>();
    for (const auto& row : options) {
        auto& values = out.values.emplace_back();
        const auto& value = found[row.long_name()];
        if (value.empty()) continue;
        if (row.repeats)
            values = value.as<Strings>();
        else
            values.push_back(row.value.empty() ? std::string() : value.as<std::string>());
    }
    return out;
}

Detail detail_of(const Strings& words) { return words == Strings{"all"} ? Detail::all : Detail::screen; }

int print_help(const std::string& page) {
    results() << report::fit(page, help_width);
    return 0;
}

namespace {

/// `words`: "help TOPIC [all]", "help --help", "--help [all]".
int print_asked_help(const Strings& words) {
    const bool named = words.front() == "help" && words.size() > 1 && words[1] != "all" && words[1][0] != '-';
    return print_help(help_text(named ? words[1] : "", detail_of({words.begin() + (named ? 2 : 1), words.end()})));
}

}  // namespace

void need_pattern(const Call& call, const std::string& what) {
    if (call.patterns.empty()) throw Error(Blame::usage, "`cllab ", call.command, "` needs ", what);
}

void refuse_patterns(const Call& call, const std::string& about) {
    if (!call.patterns.empty()) throw Error(Blame::usage, about, "; found '", call.patterns.front(), "'");
}

int run_command_line(int argc, char** argv) {
    const Strings whole(argv, argv + argc);
    Strings words(whole.begin() + std::min(argc, 1), whole.end());
    refuse_empty(words);
    if (words.empty()) return print_start();
    if (words.front() == "--help" || words.front() == "-h" || words.front() == "help") return print_asked_help(words);
    if (words.front() == "--version") {
        if (words.size() > 1) throw Error(Blame::usage, "`cllab --version` takes no argument; found '", words[1], "'");
        results() << "cllab " << cllab::version() << '\n';
        return 0;
    }
    const auto* command = find_command(words.front());
    if (command)
        words.erase(words.begin());
    else
        refuse_mistyped_command(words.front());
    return (command ? command : find_command("run"))->run(whole, std::move(words));
}

}  // namespace cllab::app
