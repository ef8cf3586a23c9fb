#include "app/commandline/options.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <map>
#include <random>

#include "app/choose/choice.hpp"
#include "app/commandline/arguments.hpp"
#include "app/commandline/option_list.hpp"
#include "core/error.hpp"
#include "core/suggest.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "model/registry.hpp"
#include "report/records/exports.hpp"
#include "report/table/table.hpp"

namespace cllab::app {
namespace {

namespace po = boost::program_options;

using Strings = std::vector<std::string>;

std::pair<std::string, std::string> key_value(const std::string& option, const std::string& text) {
    const auto at = text.find('=');
    if (at == 0 || at == std::string::npos || at + 1 == text.size())
        throw Error(Blame::usage, "option '--" + option + "' takes NAME=VALUE; found '" + text + "'");
    return {text.substr(0, at), text.substr(at + 1)};
}

/// NAME=VALUE of an option that repeats, each NAME once.
std::vector<std::pair<std::string, std::string>> named(const std::string& option, const Strings& texts) {
    std::vector<std::pair<std::string, std::string>> out;
    std::map<std::string, std::string> given;
    for (const auto& text : texts) {
        out.push_back(key_value(option, text));
        const auto& [name, value] = out.back();
        const auto [first, is_new] = given.emplace(name, value);
        if (!is_new)
            throw Error(Blame::usage, "option '--" + option + "' gives '" + name + "' twice, '" + first->second +
                                          "' and '" + value + "'");
    }
    return out;
}

/// Boost's sentences, without its capital letters and with the nearest option.
std::string explain(const std::string& command, const po::error& e) {
    std::string out = e.what();
    if (const auto* unknown = dynamic_cast<const po::unknown_option*>(&e)) {
        std::vector<std::string> known;
        const auto described = options_of(command);  // named: the range-for would outlive a temporary's options
        for (const auto& option : described.options()) known.push_back("--" + option->long_name());
        out = "option '" + unknown->get_option_name() + "' is unknown to `cllab " + command + "`" +
              or_did_you_mean(unknown->get_option_name(), known);
    }
    return out + (out.back() == '?' ? " " : ". ") + "See `cllab " + command + " --help`.";
}

/// What was given of a command's options; those that it has not are not given.
struct Given {
    po::variables_map values;

    bool has(const char* name) const { return values.count(name) != 0; }
    Strings strings(const char* name) const { return has(name) ? values[name].as<Strings>() : Strings{}; }
    void text(const char* name, std::string& to) const {
        if (has(name)) to = values[name].as<std::string>();
    }
    void seconds(const char* name, double& to) const {
        if (!has(name) || values[name].defaulted()) return;
        to = values[name].as<double>();
        if (!(to > 0) || to > 1e6)
            throw Error(Blame::usage, std::string("option '--") + name + "' is " + format_exact(to) +
                                          "; possible are seconds above 0, at most 1000000");
    }
};

Given read_options(const std::string& command, const Strings& args) {
    const auto described = options_of(command);
    po::options_description hidden;
    hidden.add_options()("pattern", po::value<Strings>());
    po::options_description all;
    all.add(described).add(hidden);
    po::positional_options_description positional;
    positional.add("pattern", -1);
    refuse_missing_values(args, described);
    Given out;
    try {
        using namespace po::command_line_style;
        const int style = (default_style & ~allow_guessing);
        po::store(po::command_line_parser(args).options(all).positional(positional).style(style).run(), out.values);
        po::notify(out.values);
    } catch (const po::error& e) {
        throw Error(Blame::usage, explain(command, e));
    }
    return out;
}

/// Every option that some command has, each checked by itself.
void fill(Invocation& out, const Given& given) {
    out.patterns = given.strings("pattern");
    for (const auto& pattern : given.strings("kernel")) out.patterns.push_back(pattern);
    out.devices = given.strings("device");
    out.targets = given.strings("target");
    out.axes = named("axis", given.strings("axis"));
    out.inputs = named("input", given.strings("input"));
    out.outputs = named("output", given.strings("output"));
    for (const auto& statement : statements)
        for (const auto& value : given.strings(statement.option)) out.statements.emplace_back(statement.option, value);

    // What devices, list and profile print; a file for the other commands.
    out.as_json = given.has("json") && (out.command == "devices" || out.command == "list" || out.command == "profile");
    if (!out.as_json) given.text("json", out.json);
    for (const auto& [name, to] : {std::pair{"csv", &out.csv},
                                   {"html", &out.html},
                                   {"junit", &out.junit},
                                   {"dumps", &out.dumps},
                                   {"cl-dir", &out.cl_dir},
                                   {"build-options", &out.build_options},
                                   {"label", &out.label},
                                   {"vs", &out.versus},
                                   {"baseline", &out.baseline},
                                   {"check", &out.check},
                                   {"replay", &out.replay},
                                   {"cache", &out.cache},
                                   {"parallel", &out.parallel},
                                   {"export", &out.exports_to}})
        given.text(name, *to);
    if (const std::vector<std::string> possible{"never", "gpus", "all"};
        std::find(possible.begin(), possible.end(), out.parallel) == possible.end())
        throw Error(Blame::usage, "option '--parallel' is '" + out.parallel + "'; possible are never, gpus and all" +
                                      or_did_you_mean(out.parallel, possible));
    if (given.has("processes")) {
        out.processes = given.values["processes"].as<unsigned>();
        if (out.processes < 1 || out.processes > 64)
            throw Error(Blame::usage, "option '--processes' is " + std::to_string(out.processes) +
                                          "; possible are whole numbers from 1 to 64");
    }
    if (given.has("points")) {
        const auto& which = given.values["points"].as<std::string>();
        if (const std::vector<std::string> possible{"all", "first"};
            std::find(possible.begin(), possible.end(), which) == possible.end())
            throw Error(Blame::usage, "option '--points' is '" + which + "'; possible are all and first" +
                                          or_did_you_mean(which, possible));
        if (which == "first") out.points = model::Points::first;
    }
    for (const auto& format : report::exports)
        if (given.has(format.option)) given.text(format.option, out.exports.emplace_back(format.option, "").second);
    for (const auto& [name, to] : {std::pair{"force", &out.force},
                                   {"append", &out.append},
                                   {"no-dumps", &out.no_dumps},
                                   {"isolate", &out.isolate},
                                   {"timings", &out.timings},
                                   {"steps", &out.steps},
                                   {"native", &out.native},
                                   {"require-all", &out.require_all},
                                   {"verify", &out.verify_only},
                                   {"no-yardstick", &out.no_yardstick},
                                   {"watch", &out.watch},
                                   {"noise", &out.noise},
                                   {"targets", &out.list_targets},
                                   {"summary", &out.summary},
                                   {"source", &out.source},
                                   {"live", &out.live},
                                   {"recorded", &out.recorded},
                                   {"strict", &out.strict},
                                   {"results-may-change", &out.results_may_change},
                                   {"calibrate", &out.calibrate},
                                   {"history", &out.history},
                                   {"test", &out.test}})
        *to = given.has(name);

    given.seconds("timeout", out.timeout_seconds);
    given.seconds("budget", out.budget_seconds);
    out.seed = given.has("seed") ? seed_from(given.values["seed"].as<std::string>()) : std::random_device{}();
    if (given.has("rebuild")) {
        out.rebuild = given.values["rebuild"].as<unsigned>();
        if (out.rebuild < 2 || out.rebuild > 1000)
            throw Error(Blame::usage, "option '--rebuild' is " + std::to_string(out.rebuild) +
                                          "; possible are whole numbers from 2 to 1000");
    }
    // A number of seconds of run, a switch of isa.
    out.hot = given.has("hot") && out.command == "isa";
    if (given.has("hot") && !out.hot) {
        out.hot_seconds = given.values["hot"].as<double>();
        if (!(*out.hot_seconds >= 0) || *out.hot_seconds > 3600)
            throw Error(Blame::usage, "option '--hot' is " + format_exact(*out.hot_seconds) +
                                          "; possible are seconds from 0 to 3600");
    }
    if (given.has("columns")) {
        for (const auto& name : split(given.values["columns"].as<std::string>(), ','))
            out.columns.push_back(report::column_name(name));
        if (std::find(out.columns.begin(), out.columns.end(), "") != out.columns.end())
            throw Error(Blame::usage, "option '--columns' takes names with commas between; found '" +
                                          given.values["columns"].as<std::string>() + "'");
    }
    if (given.has("width")) {
        out.width = given.values["width"].as<unsigned>();
        if (out.width < 40)
            throw Error(Blame::usage,
                        "option '--width' is " + std::to_string(out.width) + "; possible are whole numbers from 40");
    }
    if (given.has("count-above")) {
        out.count_above = given.values["count-above"].as<unsigned>();
        if (*out.count_above > 255)
            throw Error(Blame::usage, "option '--count-above' is " + std::to_string(*out.count_above) +
                                          "; possible are grey levels from 0 to 255");
    }
    if (given.has("threshold")) {
        out.threshold = given.values["threshold"].as<double>() / 100;
        if (!(out.threshold >= 0) || out.threshold > 1)
            throw Error(Blame::usage, "option '--threshold' is " + format_exact(100 * out.threshold) +
                                          "; possible are per cent from 0 to 100");
    }
    constexpr std::size_t longest_label = 200;
    if (out.label.size() > longest_label)
        throw Error(Blame::usage, "option '--label' has " + std::to_string(out.label.size()) + " bytes; at most " +
                                      std::to_string(longest_label) + " are possible");
    if (!out.check.empty() && out.check != "oclgrind")
        throw Error(Blame::usage, "option '--check' is '" + out.check + "'; possible is oclgrind");
}

/// A word in a command's place means `run` with a pattern, unless nothing has such a name and a command's is the
/// nearest.
void refuse_mistyped_command(const std::string& word) {
    if (word.front() == '-' || names_kernel_file(word)) return;
    Strings known = commands();
    for (const auto& experiment : model::registry()) {
        known.push_back(experiment.family);
        for (const auto& variant : experiment.variants) {
            known.push_back(experiment.id(variant));
            if (glob_match(word, known.back()) || word == experiment.family) return;
        }
    }
    const auto near = nearest(word, known);
    const auto all = commands();
    if (!near.empty() && std::find(all.begin(), all.end(), near.front()) != all.end())
        throw Error(Blame::usage, "there is no command and no kernel '" + word + "'; " + did_you_mean(word, known));
}

void refuse_patterns(const Invocation& out, const std::string& about) {
    if (!out.patterns.empty()) throw Error(Blame::usage, about + "; found '" + out.patterns.front() + "'");
}

void need_pattern(const Invocation& out, const std::string& what) {
    if (out.patterns.empty()) throw Error(Blame::usage, "`cllab " + out.command + "` needs " + what);
}

void finish_devices(const Invocation& out) {
    refuse_patterns(out, "`cllab devices` takes no argument");
    if (out.noise && out.as_json) throw Error(Blame::usage, "`cllab devices` takes --noise or --json, not both");
    if (!out.noise && !out.devices.empty())
        throw Error(Blame::usage, "`cllab devices` takes --device with --noise only; it lists all devices");
}

void finish_isa(Invocation& out, const Given& given) {
    if (!given.has("dumps")) out.dumps.clear();
    if (out.rebuild && (out.targets.empty() || !out.versus.empty()))
        throw Error(
            Blame::usage,
            "`cllab isa` takes --rebuild with --target and without --vs; `cllab run --rebuild` builds on a device");
    if (!out.targets.empty() && !out.devices.empty())
        throw Error(Blame::usage, "`cllab isa` takes --target or --device, not both");
    if (out.hot && out.summary) throw Error(Blame::usage, "`cllab isa` takes --hot or --summary, not both");
    if (out.source && (!out.targets.empty() || out.summary || !out.versus.empty()))
        throw Error(Blame::usage, "`cllab isa` takes --source without --target, --summary and --vs");
    if (out.live && (out.targets.size() > 1 || !out.versus.empty() || out.rebuild))
        throw Error(Blame::usage, "`cllab isa` takes --live with one --target at most, and without --vs and --rebuild");
    if (!out.list_targets)
        need_pattern(out, "a PATTERN, e.g. 'pitch_*', or --targets; `cllab list` shows what there is");
}

void finish_regress(Invocation& out, const Given& given) {
    given.seconds("max-time", out.comparison_seconds);
    if (out.recorded + out.calibrate + out.history > 1)
        throw Error(Blame::usage, "`cllab regress` takes one of --recorded, --calibrate and --history");
    need_pattern(out, out.history ? "a FILE that `cllab run --json` wrote"
                                  : "the folder that `cllab run ... --baseline DIR` wrote");
}

void finish_cells(Invocation& out, const Given& given) {
    if (out.command == "dump") out.verify_only = true;
    if (out.processes > 1 &&
        (!out.verify_only || !out.versus.empty() || out.rebuild || !out.check.empty() || out.watch))
        throw Error(
            Blame::usage,
            "--processes is for work that takes no measurements: `cllab dump`, and `cllab run --verify` without --vs, "
            "--rebuild, --check and --watch");
    if (out.native && (!out.versus.empty() || out.rebuild || !out.baseline.empty() || !out.check.empty() || out.watch ||
                       !out.replay.empty()))
        throw Error(Blame::usage,
                    "--native adds rows to a table, so --vs, --rebuild, --baseline, --check, --watch and --replay "
                    "cannot stand beside it");
    if (out.rebuild && !(out.csv.empty() && out.baseline.empty() && out.outputs.empty()))
        throw Error(Blame::usage,
                    "--rebuild writes the records of its processes to --json only, so --csv, --output and --baseline "
                    "cannot stand beside it");
    if (!out.replay.empty()) {
        refuse_patterns(out, "option '--replay' says what to run, so no PATTERN can stand beside it");
        out.patterns = {out.replay};
    }
    if (given.has("max-time") && !given.values["max-time"].defaulted()) {
        double seconds = 0;
        given.seconds("max-time", seconds);
        if (out.versus.empty()) out.sampling_seconds = seconds;
        out.comparison_seconds = out.versus.empty() ? std::min(out.comparison_seconds, 25 * seconds) : seconds;
    }
    need_pattern(out, "a PATTERN, e.g. 'pitch_*'; `cllab list` shows what there is");
}

}  // namespace

Invocation parse(int argc, char** argv) {
    Invocation out;
    out.argv.assign(argv, argv + argc);
    Strings args(argv + 1, argv + argc);
    if (args.size() > 1 && args[0] == "complete" && args[1] == "--") {
        out.command = "complete";
        out.patterns.assign(args.begin() + 2, args.end());
        return out;
    }
    refuse_empty(args);
    if (args.empty() || args.front() == "--help" || args.front() == "-h" || args.front() == "help") {
        out.help = true;
        out.command.clear();
        if (args.size() > 1 && args.front() == "help") out.command = args[1];
        return out;
    }
    if (args.front() == "--version") {
        if (args.size() > 1) throw Error(Blame::usage, "`cllab --version` takes no argument; found '" + args[1] + "'");
        out.command = "version";
        return out;
    }
    if (const auto known = commands(); std::find(known.begin(), known.end(), args.front()) != known.end()) {
        out.command = args.front();
        args.erase(args.begin());
    } else {
        refuse_mistyped_command(args.front());
    }
    if (const auto end = std::find(args.begin(), args.end(), "--"); out.command == "ncu" && end != args.end()) {
        out.tool_options.assign(end + 1, args.end());
        args.erase(end, args.end());
    }
    const auto given = read_options(out.command, args);
    out.help = given.has("help");
    out.no_pager = given.has("no-pager");
    if (out.help) return out;
    fill(out, given);
    if (out.command == "devices")
        finish_devices(out);
    else if (out.command == "isa")
        finish_isa(out, given);
    else if (out.command == "ncu")
        need_pattern(out, "a PATTERN, e.g. pitch_wide; `cllab list` shows what there is");
    else if (out.command == "regress")
        finish_regress(out, given);
    else if (out.command == "profile")
        refuse_patterns(out, "`cllab profile` takes no PATTERN");
    else if (out.command == "merge" || out.command == "report")
        need_pattern(out, "a FILE that `cllab run --json` wrote");
    else if (out.command == "run" || out.command == "dump" || out.command == "tune" || out.command == "why")
        finish_cells(out, given);
    return out;
}

}  // namespace cllab::app
