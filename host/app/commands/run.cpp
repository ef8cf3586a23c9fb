// The command line of `cllab run` and `cllab dump`.
#include <fstream>

#include "app/commands/command_file.hpp"

namespace cllab::app {
namespace {

Rows<RunOptions> shown_rows(bool measures) {
    Rows<RunOptions> rows;
    rows.text("dumps", "DIR", &RunOptions::dumps)
        .flag("no-dumps", &RunOptions::no_dumps)
        .text("json", "FILE", &RunOptions::json)
        .text("csv", "FILE", &RunOptions::csv);
    if (measures) rows.text("html", "FILE", &RunOptions::html).with(excerpt_rows());
    rows.columns(&RunOptions::columns, about_columns())
        .flag("sort", &RunOptions::by_time)
        .named("input", "NAME=FILE", &RunOptions::inputs)
        .named("output", "NAME=FILE", &RunOptions::outputs)
        .whole("count-above", "LEVEL", {0, 255, "grey levels from 0 to 255"}, &RunOptions::count_above)
        .with(label_rows())
        .with(timings_rows())
        .with(replace_rows("--json or --csv"));
    return rows;
}

Row check_row() { return {"check", "[BY]", "", "", false, "device=", {"oclgrind*", "device=*"}}; }

/// "oclgrind" or "device=D"; an empty D means any other device.
std::string checker_of(const std::string& text) {
    if (text == "oclgrind" || text.starts_with("device=")) return text;
    return word_of("check", text, {"oclgrind", "device=D"});
}

Rows<RunOptions> measured_rows() {
    Rows<RunOptions> rows;
    rows.number("max-time", "SECONDS", any_seconds, &RunOptions::max_time, "0.4")
        .text("vs", "PATTERN", &RunOptions::versus)
        .text("baseline", "DIR", &RunOptions::baseline)
        .word("cache", "STATE", {"hot", "cold", "rotate"}, &RunOptions::cache)
        .flag("verify", &RunOptions::verify_only)
        .flag("steps", &RunOptions::steps)
        .flag("energy", &RunOptions::energy)
        .number("hot", "SECONDS", {0, 3600, "seconds from 0 to 3600"}, &RunOptions::hot_seconds, "")
        .flag("no-yardstick", &RunOptions::no_yardstick)
        .flag("native", &RunOptions::native,
              "CPU devices: adds rows for a hand-written C++ loop, on one thread and on one per core. The same "
              "reference checks them, and the host clock times them in the same rounds. Families that have one: " +
                  join(native_families(), ", ") + ".")
        .add(check_row(), [](RunOptions& to, const std::string& text) { to.check = checker_of(text); })
        .flag("watch", &RunOptions::watch)
        .text("replay", "DIR", &RunOptions::replay);
    return rows;
}

Rows<RunOptions> run_rows(bool measures) {
    Rows<RunOptions> rows;
    rows.with(choice_rows());
    rows.add({"points", "WHICH", "", "all"}, [](RunOptions& to, const std::string& text) {
        if (word_of("points", text, {"all", "first"}) == "first") to.points = model::Points::first;
    });
    if (measures) rows.with(measured_rows()).flag("strict", &RunOptions::strict);
    rows.with(shown_rows(measures))
        .with(text_rows())
        .flag("isolate", &RunOptions::isolate)
        .with(process_rows())
        .flag("require-all", &RunOptions::require_all)
        .flag("print-block", &RunOptions::print_block)
        .flag("write-block", &RunOptions::write_block)
        .with(kernel_file_rows())
        .with(reference_command_rows());
    return rows;
}

void write_block(const GuessedBlock& block) {
    const auto path = block.path();
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored))
        throw Error(Blame::usage,
                    "file '" + path + "' exists; --write-block never overwrites a file; use --print-block");
    std::ofstream out(path, std::ios::binary);
    out << "# guessed " << printable(block.how) << '\n' << block.text;
    out.close();
    if (!out) throw Error(Blame::environment, "file '" + path + "' cannot be written: " + std::strerror(errno));
    say("wrote the guessed block to " + path);
}

/// --print-block and --write-block: prints the guessed block or writes it next to the kernel file. Runs nothing.
int show_block(const RunOptions& options) {
    const Choice choice(options);
    if (!choice.own())
        throw Error(Blame::usage,
                    "--print-block and --write-block apply to kernel files only, as in `cllab run my.cl`");
    choice.require_built();
    if (choice.guessed().empty()) say("no guesses: the file and the command line give everything that a launch needs");
    for (const auto& block : choice.guessed()) {
        if (options.write_block)
            write_block(block);
        else
            results() << "/*cllab\n# guessed " << printable(block.how) << '\n' << printable(block.text, "\n") << "*/\n";
    }
    return 0;
}

void refuse_together(const RunOptions& options) {
    const bool measures_only_once = options.versus.empty() && options.check.empty() && !options.watch;
    if (options.watch && !options.check.empty())
        throw Error(Blame::usage, "--watch cannot be combined with --check, because it verifies on every save");
    if (options.native && (!measures_only_once || !options.baseline.empty() || !options.replay.empty()))
        throw Error(Blame::usage, "--native cannot be combined with --vs, --baseline, --check, --watch or --replay");
}

void check_run(RunOptions& options) {
    refuse_together(options);
    if (std::ranges::find(options.columns, "energy") != options.columns.end()) options.energy = true;
    if (!options.replay.empty()) {
        refuse_patterns(options, "option '--replay' selects the kernel and takes no PATTERN");
        options.patterns = {options.replay};
    }
    if (options.max_time && options.versus.empty()) {
        options.sampling_seconds = *options.max_time;
        options.comparison_seconds = std::min(options.comparison_seconds, 25 * *options.max_time);
    } else if (options.max_time) {
        options.comparison_seconds = *options.max_time;
    }
    need_pattern(options);
}

void check_dump(RunOptions& options) {
    options.verify_only = true;
    check_run(options);
}

int run_or_watch(const RunOptions& options) {
    if (options.print_block || options.write_block) return show_block(options);
    if (options.watch) return watch(options);
    if (options.check == "oclgrind") return check_oclgrind(options);
    return run_cells(options);
}

const Manual run_manual = manual_of("run");

const Manual dump_manual = manual_of("dump");

}  // namespace

Command run_command() { return make_command<RunOptions>(run_manual, run_rows(true), check_run, run_or_watch); }

Command dump_command() {
    return make_command<RunOptions>(dump_manual, run_rows(false), check_dump, [](const RunOptions& options) {
        return options.print_block || options.write_block ? show_block(options) : run_cells(options);
    });
}

RunOptions run_options_of(const Strings& argv) {
    Strings words(argv.begin() + std::min<std::ptrdiff_t>(1, static_cast<std::ptrdiff_t>(argv.size())), argv.end());
    const bool dump = !words.empty() && words.front() == "dump";
    if (!words.empty() && (dump || words.front() == "run")) words.erase(words.begin());
    const auto rows = run_rows(!dump);
    auto out = options_from(rows, read_words(dump ? dump_manual : run_manual, rows.rows(), words), argv);
    out.command = dump ? "dump" : "run";
    dump ? check_dump(out) : check_run(out);
    return out;
}

}  // namespace cllab::app
