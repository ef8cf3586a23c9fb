// The command that measures a record's cell again, from the command line that measured it.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "app/choose/choice.hpp"
#include "app/commands.hpp"
#include "app/screen/results.hpp"
#include "core/error.hpp"
#include "core/text.hpp"

namespace cllab::app {
namespace {

/// As a shell takes it for one word.
std::string shell_word(const std::string& word) {
    const bool plain = !word.empty() && std::ranges::all_of(word, [](char c) {
        return in_name(c) || std::string_view("./:=,@%+-").find(c) != std::string_view::npos;
    });
    if (plain) return word;
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

std::string typed(const Strings& words) { return join(words, " ", shell_word); }

/// The words without the files that they have written, and without these options, which take a value.
Strings without(const Strings& words, const std::set<std::string>& options = {}) {
    static const std::set<std::string> files{"--json", "--csv",   "--html",     "--markdown", "--svg",
                                             "--png",  "--junit", "--baseline", "--output"},
        flags{"--force", "--append"};
    Strings out;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto name = words[i].substr(0, words[i].find('='));
        if (files.contains(name) || options.contains(name))
            i += name == words[i];  // its value is the next word
        else if (!flags.contains(name))
            out.push_back(words[i]);
    }
    return out;
}

/// What a command line says beside the cells that it chooses and the files that it writes.
struct Line {
    Strings kept;
    std::set<std::string> axes;
};

/// Nothing where the command is no plain `run`, so that no cell of it can be had alone.
std::optional<Line> line_of(const Strings& argv) {
    if (argv[1] != "run" && find_command(argv[1])) return std::nullopt;
    RunOptions options;
    try {
        options = run_options_of(argv);
    } catch (const Error&) {  // of another version, or of nobody
        return std::nullopt;
    }
    if (names_build_options(options.versus) || !options.replay.empty() || options.watch) return std::nullopt;
    Line out{without({argv.begin() + (argv[1] == "run" ? 2 : 1), argv.end()}, {"--vs", "--axis"}), {}};
    for (const auto& [axis, values] : options.axes) out.axes.insert(axis);
    std::erase_if(out.kept, [&](const std::string& word) {
        return std::ranges::find(options.patterns, word) != options.patterns.end();
    });
    return out;
}

}  // namespace

std::vector<std::string> commands_again(const std::vector<model::Record>& records) {
    const auto varying = report::html::varying_axes(records);
    std::map<Strings, std::optional<Line>> lines;
    std::vector<std::string> out;
    for (const auto& r : records) {
        auto& again = out.emplace_back();
        if (r.argv.size() < 2) continue;
        const auto [known, is_new] = lines.try_emplace(r.argv);
        if (is_new) known->second = line_of(r.argv);
        if (!known->second) {
            again = "cllab " + typed(without({r.argv.begin() + 1, r.argv.end()}));
            continue;
        }
        const auto& line = *known->second;
        Strings words{"cllab", "run", names_kernel_file(r.build.source) ? r.build.source + ":" + r.id : r.id};
        words.insert(words.end(), line.kept.begin(), line.kept.end());
        const auto varies = varying.find(r.family);
        for (const auto& [axis, value] : r.point)
            if (line.axes.contains(axis) || (varies != varying.end() && varies->second.contains(axis)))
                words.insert(words.end(), {"--axis", axis + "=" + value});
        again = typed(words);
    }
    return out;
}

}  // namespace cllab::app
